package main

type digestCmd struct {
	User scope `help:"Only the graph of this user."`
}

// Run prints the digest of the graph: equal for equal graphs, whatever order their events came in.
func (c digestCmd) Run(e *env) (err error) {
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	d, err := cl.digest(e.ctx, string(c.User))
	if err != nil {
		return err
	}
	e.printf("%s\n", d)
	return nil
}
