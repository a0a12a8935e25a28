package wire

import (
	"cmp"
	"encoding/binary"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pointKey is a point id as a comparable value: an unsigned integer (in lo) or a UUID.
type pointKey struct {
	uuid   bool
	hi, lo uint64
}

// parsePointID reads an id of the protocol, refusing with the server's texts.
func parsePointID(id *pb.PointId) (pointKey, error) {
	switch opt := id.GetPointIdOptions().(type) {
	case *pb.PointId_Num:
		return pointKey{lo: opt.Num}, nil
	case *pb.PointId_Uuid:
		u, err := uuid.Parse(opt.Uuid)
		if err != nil || len(opt.Uuid) == 38 && (opt.Uuid[0] != '{' || opt.Uuid[37] != '}') {
			return pointKey{}, status.Errorf(codes.InvalidArgument, "Unable to parse UUID: %s", opt.Uuid)
		}
		return pointKey{uuid: true, hi: binary.BigEndian.Uint64(u[:8]), lo: binary.BigEndian.Uint64(u[8:])}, nil
	default:
		return pointKey{}, status.Error(codes.InvalidArgument, "No ID options provided")
	}
}

// parsePointIDs reads several ids as a set.
func parsePointIDs(ids []*pb.PointId) (map[pointKey]bool, error) {
	set := make(map[pointKey]bool, len(ids))
	for _, id := range ids {
		key, err := parsePointID(id)
		if err != nil {
			return nil, err
		}
		set[key] = true
	}
	return set, nil
}

// proto writes the id as the server does: UUIDs with hyphens in lower case.
func (k pointKey) proto() *pb.PointId {
	if !k.uuid {
		return pb.NewIDNum(k.lo)
	}
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], k.hi)
	binary.BigEndian.PutUint64(u[8:], k.lo)
	return pb.NewIDUUID(u.String())
}

// compareKeys orders the integers ascending, then the UUIDs by value.
func compareKeys(a, b pointKey) int {
	if a.uuid != b.uuid {
		if b.uuid {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}
