package kuzu

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The texts are those that libkuzu 0.11.3 was seen to give.
func TestStatementErrorsByTheirBeginning(t *testing.T) {
	for _, tc := range []struct {
		text string
		want error
	}{
		{"Interrupted.", ErrTimeout},
		{"Buffer manager exception: Unable to allocate memory! The buffer pool is full and no memory could be freed!", ErrPoolFull},
		{"IO exception: Cannot write to file. path: /x/db.wal fileDescriptor: 7 offsetToWrite: 0 numBytesToWrite: 4096 Error: Success", ErrDisk},
		{"Runtime exception: Found duplicated primary key value 1, which violates the uniqueness constraint of the primary key column.", nil},
		{"Write-write conflict of updating the same row.", nil},
		{"No active transaction for COMMIT.", nil},
		{"Timeout waiting for active transactions to leave the system before checkpointing.", nil},
		{"not at its beginning: IO exception: no", nil},
	} {
		err := statementError("commit", errors.New(tc.text))
		for _, sentinel := range []error{ErrTimeout, ErrPoolFull, ErrDisk} {
			if got := errors.Is(err, sentinel); got != errors.Is(tc.want, sentinel) {
				t.Errorf("%q is %v: %v", tc.text, sentinel, got)
			}
		}
		if !strings.Contains(err.Error(), "commit: ") || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%q lost its text or what was being done: %v", tc.text, err)
		}
	}
}

func TestConfigNamesEveryViolation(t *testing.T) {
	bad := Config{BufferPoolBytes: 1, MaxDBBytes: 3 << 30, Readers: 99, ReadTimeout: time.Microsecond, CheckpointRecords: -1}
	_, err := Open(t.TempDir()+"/graph", bad)
	if err == nil {
		t.Fatal("opened")
	}
	for _, want := range []string{"BufferPoolBytes 1:", "MaxDBBytes 3221225472:", "Readers 99:", "ReadTimeout 1µs:", "CheckpointRecords -1:",
		"a power of two"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
	if err := (Config{}).withDefaults().validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
}
