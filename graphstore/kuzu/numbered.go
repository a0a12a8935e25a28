package kuzu

// How many values lie together in numbered: enough for what is read one after the other, few enough for numbers that are
// far apart.
const (
	pageBits      = 7
	valuesPerPage = 1 << pageBits
)

// numbered keeps values by the numbers of rows. What is asked for in turn is near each other most of the time, so that this is
// several times as fast as a map. It belongs to one goroutine.
type numbered[V any] struct {
	pages map[int64]*[valuesPerPage]V
	at    int64 // of the page that was used last
	last  *[valuesPerPage]V
}

func newNumbered[V any]() *numbered[V] {
	return &numbered[V]{pages: make(map[int64]*[valuesPerPage]V)}
}

// set keeps a value.
func (m *numbered[V]) set(id int64, v V) {
	if !m.turn(id) {
		m.at, m.last = id>>pageBits, new([valuesPerPage]V)
		m.pages[m.at] = m.last
	}
	m.last[id&(valuesPerPage-1)] = v
}

// get returns a value, the zero one if none was set.
func (m *numbered[V]) get(id int64) (v V) {
	if !m.turn(id) {
		return v
	}
	return m.last[id&(valuesPerPage-1)]
}

// turn goes to the page of a number and reports whether there is one.
func (m *numbered[V]) turn(id int64) bool {
	at := id >> pageBits
	if m.last != nil && at == m.at {
		return true
	}
	page, ok := m.pages[at]
	if ok {
		m.at, m.last = at, page
	}
	return ok
}
