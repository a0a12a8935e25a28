package qdrant

import (
	"strconv"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
)

// idNamespace is the namespace of mapped ids. It is part of the stored data and never changes.
var idNamespace = uuid.MustParse("adaa1b90-626e-49bd-a355-a01ef876a05e")

// pointID is a point id of the server as a comparable value: a canonical UUID or, where that is empty, an integer.
type pointID struct {
	uuid string
	num  uint64
}

// mappedID is the point id that a user's fact has when its own id cannot be one.
func mappedID(space graphstore.Space, id string) pointID {
	return pointID{uuid: uuid.NewSHA1(idNamespace, []byte(space.UserID()+"\x00"+id)).String()}
}

// directID is the point id that a fact id is by itself, if it is one.
func directID(id string) (pointID, bool) {
	if n, ok := graphstore.NumericFactID(id); ok {
		return pointID{num: n}, true
	}
	if u, err := uuid.Parse(id); err == nil && u.String() == id {
		return pointID{uuid: id}, true
	}
	return pointID{}, false
}

// candidateIDs are the point ids under which a user's fact may be stored.
func candidateIDs(space graphstore.Space, id string) []pointID {
	mapped := mappedID(space, id)
	if direct, ok := directID(id); ok {
		return []pointID{direct, mapped}
	}
	return []pointID{mapped}
}

// pointIDOf reads an id of the server's. One of a kind that does not exist yet, or that is no UUID, is not ok.
func pointIDOf(id *pb.PointId) (pointID, bool) {
	switch opt := id.GetPointIdOptions().(type) {
	case *pb.PointId_Num:
		return pointID{num: opt.Num}, true
	case *pb.PointId_Uuid:
		id, ok := directID(graphstore.CanonicalFactID(opt.Uuid))
		return id, ok && id.uuid != ""
	default:
		return pointID{}, false
	}
}

func (p pointID) proto() *pb.PointId {
	if p.uuid != "" {
		return pb.NewIDUUID(p.uuid)
	}
	return pb.NewIDNum(p.num)
}

// String is the point id as a fact id.
func (p pointID) String() string {
	if p.uuid != "" {
		return p.uuid
	}
	return strconv.FormatUint(p.num, 10)
}

// factID is the id of the user's fact that the point holds. original is the payload's [idField], which counts only where
// it is a fact id from which the point id follows.
func (p pointID) factID(space graphstore.Space, original string) string {
	if original == "" || mappedID(space, original) != p {
		return p.String()
	}
	if graphstore.CheckID(original) != nil || graphstore.CanonicalFactID(original) != original {
		return p.String()
	}
	return original
}

func protoIDs(ids []pointID) []*pb.PointId {
	out := make([]*pb.PointId, len(ids))
	for i, id := range ids {
		out[i] = id.proto()
	}
	return out
}
