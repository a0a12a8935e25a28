package graphstore

// Step says what was decided of two entities: StepUnmerged makes them two, each of the others makes them one.
type Step string

// The steps of the merge log.
const (
	StepAliased  Step = "aliased"  // a person declared the name of one an alias of the other
	StepMerged   Step = "merged"   // a person said that they are one
	StepRetyped  Step = "retyped"  // a person gave the entity another type
	StepUnmerged Step = "unmerged" // a person said that they are two
)

// Merge is one row of the merge log: the latest decision on whether one entity is another one. Merging redirects and
// destroys nothing: the edges of the merged entity stay its own, and readers follow the redirect ([Snapshot.Resolve]), so
// that undoing it restores both.
type Merge struct {
	Merged   string // entity id
	Kept     string // entity id
	Step     Step
	Undone   bool   // the latest decision is that they are two
	Evidence string // in the words of who decided; may be empty
	// The names that the decision used, which the nodes show while no fact mentions them.
	MergedName, KeptName string
	Stamp                Stamp // of the decision: its event and time
}

// Key returns the row's identity in its space: one for each pair, in this direction.
func (m Merge) Key() Key { return Key{Kind: KindMerge, Node: m.Merged, Target: m.Kept} }
