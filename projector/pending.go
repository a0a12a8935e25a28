package projector

// The types that are decoded and not projected yet: planning them changes nothing and is counted.

func (SourceRetracted) plan(d *draft, _ Event) { d.report.DeferredEvents++ }
func (UserForgotten) plan(d *draft, _ Event)   { d.report.DeferredEvents++ }
func (EntityAliased) plan(d *draft, _ Event)   { d.report.DeferredEvents++ }
func (EntityMerged) plan(d *draft, _ Event)    { d.report.DeferredEvents++ }
func (EntityUnmerged) plan(d *draft, _ Event)  { d.report.DeferredEvents++ }
func (EntityRetyped) plan(d *draft, _ Event)   { d.report.DeferredEvents++ }
func (SchemaUpserted) plan(d *draft, _ Event)  { d.report.DeferredEvents++ }
func (SchemaDeleted) plan(d *draft, _ Event)   { d.report.DeferredEvents++ }
