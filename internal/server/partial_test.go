package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// halfway is an operator and a store of dead letters whose work ends early.
type halfway struct {
	operator
	graveyard
	report  DeadReport
	receipt Forgotten
}

func (h *halfway) ReplayDead(context.Context, DeadWork) (DeadReport, error) {
	return h.report, h.graveyard.err
}
func (h *halfway) DropDead(context.Context, DeadWork) (DeadReport, error) {
	return h.report, h.graveyard.err
}
func (h *halfway) Forget(context.Context, ForgetRequest) (Forgotten, error) {
	return h.receipt, h.operator.err
}

// TestWorkThatEndsEarlySaysWhatWasDone: letters that are gone and bytes that are erased are not to be guessed from an error.
func TestWorkThatEndsEarlySaysWhatWasDone(t *testing.T) {
	h := &halfway{
		report:  DeadReport{Matched: 9, Done: 4, Replayed: []DeadReplay{{Number: 3, Sequence: 17}}, Last: 17},
		receipt: Forgotten{UserID: "ann", Sequence: 18, Log: ForgottenLog{Events: 5}, Steps: []ForgotStep{{Step: "erase events"}}},
	}
	h.graveyard.err, h.operator.err = fmt.Errorf("%w: NATS is down", ErrNoDeadLetters), errors.New("disk is full")
	handler := New(nil, h, Config{Dead: h, Logger: quiet()}).Handler()
	ask := func(path, body string) (int, string, map[string]any) {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: content type %q", path, got)
		}
		var problem struct {
			Status int
			Detail string
			SoFar  map[string]any `json:"so_far"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || problem.Status != w.Code {
			t.Errorf("%s: %d %s: %v", path, w.Code, w.Body, err)
		}
		return w.Code, problem.Detail, problem.SoFar
	}
	for _, path := range []string{"/v1/dead/replay", "/v1/dead/drop"} {
		code, detail, soFar := ask(path, `{"all": true, "filter": {"user_id": "ann"}}`)
		if code != http.StatusServiceUnavailable || !strings.Contains(detail, "NATS is down") || soFar["matched"] != 9. || soFar["done"] != 4. || soFar["last"] != 17. {
			t.Errorf("%s: %d %q %v, want the error, and 4 of 9 done", path, code, detail, soFar)
		}
	}
	code, detail, soFar := ask("/v1/admin/forget", `{"user_id": "ann"}`)
	if log, _ := soFar["log"].(map[string]any); code != http.StatusInternalServerError || detail != "disk is full" || soFar["sequence"] != 18. || log["events"] != 5. {
		t.Errorf("forget: %d %q %v, want the error, and the receipt of what was erased", code, detail, soFar)
	}
	h.report, h.receipt = DeadReport{Matched: 1}, Forgotten{UserID: "ann"}
	for path, body := range map[string]string{"/v1/dead/drop": `{"numbers": [1]}`, "/v1/admin/forget": `{"user_id": "ann"}`} {
		if _, _, soFar := ask(path, body); soFar != nil {
			t.Errorf("%s: so_far is %v although nothing was done", path, soFar)
		}
	}
}

// TestPartialWorkIsDescribed looks for the field in the OpenAPI document, in the errors of the three operations alone.
func TestPartialWorkIsDescribed(t *testing.T) {
	code, body := ask(newServer(t, nil), http.MethodGet, "/openapi.json", "", nil)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil || code != http.StatusOK {
		t.Fatalf("%d: %v", code, err)
	}
	for path, want := range map[string]bool{"/v1/dead/replay": true, "/v1/dead/drop": true, "/v1/admin/forget": true, "/v1/admin/backup": false} {
		ref := doc.Paths[path]["post"].Responses["default"].Content["application/problem+json"].Schema.Ref
		properties := doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")].Properties
		if _, has := properties["so_far"]; has != want || properties["detail"] == nil {
			t.Errorf("%s: errors are %s with %v: want so_far: %t", path, ref, properties, want)
		}
	}
}
