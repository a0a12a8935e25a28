package sqlite_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDirEnv); dir != "" {
		writeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
