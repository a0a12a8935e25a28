package kuzu

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Statements are built from table definitions only, never from data. Three rules of Kuzu shape them:
//   - only {id: $parameter} on one node uses the primary key; a list of keys, IN and OR scan the table;
//   - many rows in one statement cost one scan of each table they match, so they pay from some number of rows on;
//   - a list of structs as parameter leaks every field name of every row, and a list per column is copied for each row: a
//     list of lists of numbers does neither (rows.go).

// createNode creates one node from a parameter per column.
func (t *nodeTable) createNode() string {
	return fmt.Sprintf("CREATE (n:%s {%s}) RETURN count(*)", t.name, assign(t.columns, func(c column) string { return "$" + c.name }))
}

// createNodes creates $n nodes from a list per column. It scans nothing.
func (t *nodeTable) createNodes() string {
	return fmt.Sprintf("UNWIND range(1, $n) AS i CREATE (n:%s {%s}) RETURN count(*)", t.name, assign(t.columns, func(c column) string {
		return fmt.Sprintf("CAST($%s[i] AS %s)", c.name, columnTypes[c.kind])
	}))
}

// setNode sets some of the columns of a node in one statement: Kuzu bears one change per record and transaction.
func (t *nodeTable) setNode(changed []column) string {
	sets := make([]string, len(changed))
	for i, c := range changed {
		sets[i] = fmt.Sprintf("n.%s = $%s", c.name, c.name)
	}
	return fmt.Sprintf("MATCH (n:%s {id: $id}) SET %s RETURN count(*)", t.name, strings.Join(sets, ", "))
}

// setNodes sets some of the columns of the nodes in $rows, the number of the node first in each; it scans the keys of the table.
func (t *nodeTable) setNodes(changed []column) string {
	sets := make([]string, len(changed))
	for i, c := range changed {
		sets[i] = fmt.Sprintf("n.%s = the_%s", c.name, c.name)
	}
	return fmt.Sprintf("UNWIND $rows AS r WITH %s MATCH (n:%s {id: the_id}) SET %s RETURN count(*)", items(withID(changed)), t.name,
		strings.Join(sets, ", "))
}

// deleteNode never detaches: Kuzu refuses to delete a node that has edges, the last safeguard against a dangling one.
func (t *nodeTable) deleteNode() string {
	return fmt.Sprintf("MATCH (n:%s {id: $id}) DELETE n RETURN count(*)", t.name)
}

// deleteNodes deletes the nodes numbered $ids; it scans the table.
func (t *nodeTable) deleteNodes() string {
	return fmt.Sprintf("UNWIND $ids AS i WITH CAST(i AS INT64) AS id MATCH (n:%s {id: id}) DELETE n RETURN count(*)", t.name)
}

// position is where a node stands in its table, from 0, for as long as it is there.
const position = "offset(id(n))"

// readNode returns the columns of one node and its position.
func (t *nodeTable) readNode() string {
	return fmt.Sprintf("MATCH (n:%s {id: $id}) RETURN %s, %s", t.name, plain("n", t.columns), position)
}

// readNodes returns the packed rows of the nodes numbered $ids with their positions; it scans the table.
func (t *nodeTable) readNodes() string {
	return fmt.Sprintf("UNWIND $ids AS i WITH CAST(i AS INT64) AS id MATCH (n:%s {id: id}) RETURN %s, %s", t.name,
		packed("n", t.columns), position)
}

// extent returns the number of nodes and the smallest and greatest of their numbers (null if there are none).
func (t *nodeTable) extent(oneSpace bool) string {
	where := ""
	if oneSpace {
		where = " WHERE n.space = $space"
	}
	return fmt.Sprintf("MATCH (n:%s)%s RETURN count(*), min(n.id), max(n.id)", t.name, where)
}

// ends is the pattern of both ends of one edge, by primary key.
func (t *relTable) ends() (a, b string) {
	return fmt.Sprintf("(a:%s {id: $src})", nodeTableOf(t.from).name), fmt.Sprintf("(b:%s {id: $dst})", nodeTableOf(t.to).name)
}

func (t *relTable) createEdge() string {
	a, b := t.ends()
	return fmt.Sprintf("MATCH %s, %s CREATE (a)-[e:%s {%s}]->(b) RETURN count(*)", a, b, t.name,
		assign(t.columns, func(c column) string { return "$" + c.name }))
}

// createEdges creates the edges of $rows. The ends are matched one after the other: both at once would be a product of the
// tables.
func (t *relTable) createEdges() string {
	the := func(c column) string { return "the_" + c.name }
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = the(c)
	}
	return fmt.Sprintf("UNWIND $rows AS r WITH %s MATCH (a:%s {id: the_src}) WITH a, %s MATCH (b:%s {id: the_dst}) "+
		"CREATE (a)-[e:%s {%s}]->(b) RETURN count(*)", items(t.columns), nodeTableOf(t.from).name, strings.Join(names, ", "),
		nodeTableOf(t.to).name, t.name, assign(t.columns, the))
}

// edgeMatch finds one edge. Both ends by key: filtering the target on the edge instead scans the whole table, at 300 times
// the cost.
func (t *relTable) edgeMatch() string {
	a, b := t.ends()
	return fmt.Sprintf("MATCH %s-[e:%s]->%s WHERE e.type = $type AND e.asserter_kind = $asserter_kind AND e.asserter = $asserter",
		a, t.name, b)
}

func (t *relTable) setEdge() string {
	return t.edgeMatch() + " SET e.weight = $weight, e.detail = $detail RETURN count(*)"
}

func (t *relTable) deleteEdge() string { return t.edgeMatch() + " DELETE e RETURN count(*)" }

// edgesMatch finds the edges with the identities in $rows, whose columns these are; it scans the source's table and the edges.
func (t *relTable) edgesMatch(columns []column) string {
	var equal []string
	for _, c := range identity() {
		if c.name != "src" {
			equal = append(equal, fmt.Sprintf("e.%s = the_%s", c.name, c.name))
		}
	}
	return fmt.Sprintf("UNWIND $rows AS r WITH %s MATCH (a:%s {id: the_src})-[e:%s]->%s WHERE %s",
		items(columns), nodeTableOf(t.from).name, t.name, t.far(t.to), strings.Join(equal, " AND "))
}

// setEdges sets the edges of $rows.
func (t *relTable) setEdges() string {
	return t.edgesMatch(t.columns) + " SET e.weight = the_weight, e.detail = the_detail RETURN count(*)"
}

// deleteEdges deletes the edges with the identities of $rows.
func (t *relTable) deleteEdges() string {
	return t.edgesMatch(identity()) + " DELETE e RETURN count(*)"
}

// readEdges returns the edges of one node, out of it or into it. Only columns of the edge are read.
func (t *relTable) readEdges(out bool) string {
	end, arrow := t.endOf(out)
	return fmt.Sprintf("MATCH (a:%s {id: $id})%s RETURN %s", end, arrow, plain("e", t.columns))
}

// readEdgesOfMany returns the packed rows of the edges of the nodes numbered $ids; it scans the node table.
func (t *relTable) readEdgesOfMany(out bool) string {
	end, arrow := t.endOf(out)
	return fmt.Sprintf("UNWIND $ids AS i WITH CAST(i AS INT64) AS id MATCH (a:%s {id: id})%s RETURN %s", end, arrow, packed("e", t.columns))
}

func (t *relTable) endOf(out bool) (end, arrow string) {
	if out {
		return nodeTableOf(t.from).name, fmt.Sprintf("-[e:%s]->%s", t.name, t.far(t.to))
	}
	return nodeTableOf(t.to).name, fmt.Sprintf("<-[e:%s]-%s", t.name, t.far(t.from))
}

func (t *relTable) countEdges() string {
	return fmt.Sprintf("MATCH ()-[e:%s]->%s RETURN count(*)", t.name, t.far(t.to))
}

// far is the pattern of an end that is not read: its kind matters only where the table has edges to several.
func (t *relTable) far(kind graphstore.NodeKind) string {
	if t.shared {
		return fmt.Sprintf("(:%s)", nodeTableOf(kind).name)
	}
	return "()"
}

func inPage(v string, oneSpace bool) string {
	page := fmt.Sprintf("%s.id >= $from AND %s.id < $to", v, v)
	if oneSpace {
		return fmt.Sprintf("%s.space = $space AND %s", v, page)
	}
	return page
}

func assign(columns []column, value func(column) string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name + ": " + value(c)
	}
	return strings.Join(out, ", ")
}

func plain(v string, columns []column) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = v + "." + c.name
	}
	return strings.Join(out, ", ")
}
