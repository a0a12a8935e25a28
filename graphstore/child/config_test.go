package child

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestConfigIsRefusedWithEveryViolation(t *testing.T) {
	_, err := Start(t.Context(), Config{
		SocketDir: strings.Repeat("d", 71), Quarantine: QuarantinePolicy{After: -1}, BackoffMin: 2 * time.Second, BackoffMax: time.Second,
		BreakerCrashes: -1, OpenTimeout: -time.Second, Errors: Errors{Others: make([]error, 41)},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`Command []`, `Path ""`, "(71 bytes): want at most 70 bytes", "Quarantine.After -1: want at least 1",
		"BackoffMax 1s: want at least BackoffMin, 2s", "BreakerCrashes -1: want at least 1", "OpenTimeout -1s", "Errors: 41 listed: want at most 40"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	nothing := Errors{Machine: []error{nil}}
	if err := nothing.validate(); err == nil || !strings.Contains(err.Error(), "entry 0 is nil") {
		t.Errorf("nil in the list: %v", err)
	}
}

func TestDefaults(t *testing.T) {
	c := Config{Command: []string{"kith"}, Path: "/data/graph"}.withDefaults()
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]bool{
		"2 openings":         c.Quarantine.After == 2 && !c.Quarantine.Off,
		"100 ms to 10 s":     c.BackoffMin == 100*time.Millisecond && c.BackoffMax == 10*time.Second,
		"5 in 2 min for 1":   c.BreakerCrashes == 5 && c.BreakerWindow == 2*time.Minute && c.BreakerPause == time.Minute,
		"open within 5 min":  c.OpenTimeout == 5*time.Minute,
		"close within 30 s":  c.CloseTimeout == 30*time.Second,
		"answer within 5 s":  c.AnswerWait == 5*time.Second,
		"apply within 10 mn": c.ApplyLimit == 10*time.Minute,
	} {
		if !got {
			t.Errorf("documented default is not so: %s: %+v", name, c)
		}
	}
	if long := (Config{BackoffMin: time.Minute}).withDefaults(); long.BackoffMax != time.Minute {
		t.Errorf("BackoffMax is %v, want no less than BackoffMin", long.BackoffMax)
	}
}

func TestServeByHand(t *testing.T) {
	if err := Serve(openOdd, ServeConfig{}); !errors.Is(err, ErrNotChild) {
		t.Errorf("got %v, want ErrNotChild", err)
	}
}

// TestOutputKeepsWhatSaysMost feeds what dying programs write.
func TestOutputKeepsWhatSaysMost(t *testing.T) {
	noise := strings.Repeat("a line of the log\n", 1000) // 18 kB
	for name, c := range map[string]struct{ written, want string }{
		"nothing":            {"", ""},
		"last line":          {noise + "the last\n", "the last"},
		"panic":              {noise + "panic: it\n\ngoroutine 1 [running]:\n" + noise, "panic: it"},
		"crash in C":         {"starting\nSIGSEGV: segmentation violation\nPC=0x0\n" + noise, "SIGSEGV: segmentation violation"},
		"fatal error":        {"fatal error: all goroutines are asleep\n\ngoroutine 1:\n", "fatal error: all goroutines are asleep"},
		"line without end":   {strings.Repeat("x", 5000), strings.Repeat("x", shownOutput)},
		"not even valid":     {"\xff\xfe", "\uFFFD"},
		"panic after binary": {strings.Repeat("\x00", 5000) + "\npanic: it\n", "panic: it"},
	} {
		o := &output{to: &strings.Builder{}}
		for rest := c.written; rest != ""; {
			n := min(1000, len(rest))
			if _, err := o.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got := o.why(); got != c.want {
			t.Errorf("%s: got %.80q, want %.80q", name, got, c.want)
		}
		if kept := len(o.mu.last) + len(o.mu.telling) + cap(o.mu.line); kept > 4*shownOutput {
			t.Errorf("%s: keeps %d bytes", name, kept)
		}
	}
}
