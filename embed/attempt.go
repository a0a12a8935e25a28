package embed

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// fault is what went wrong with one attempt.
type fault struct {
	kind       error // one of the package's errors
	status     int   // 0 without an answer
	detail     string
	again      bool // may go well another time
	ofText     bool // may be due to one text
	retryAfter time.Duration
}

// attempt makes one HTTP request and reads its answer to n texts.
func (c *Client) attempt(ctx context.Context, body []byte, n int) ([]result, *fault) {
	start := time.Now()
	results, status, f := c.exchange(ctx, body, n)
	if f != nil && ctx.Err() != nil {
		f = c.ended(ctx, nil)
	}
	stats := RequestStats{Texts: n, Status: status, Took: time.Since(start)}
	if f != nil {
		stats.Err = c.fault(f, 1)
	}
	c.cfg.Hooks.Requested(stats)
	switch {
	case f == nil:
		c.trouble.Store(nil)
	case ctx.Err() == nil || errors.Is(context.Cause(ctx), errTimeout): // not where the callers have left
		text := stats.Err.Error()
		c.trouble.Store(&text)
	}
	return results, f
}

func (c *Client) exchange(ctx context.Context, body []byte, n int) ([]result, int, *fault) {
	req, err := c.newRequest(ctx, body)
	if err != nil {
		return nil, 0, &fault{kind: ErrRefused, detail: err.Error()}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, connectionFault(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode, c.statusFault(resp)
	}
	limit := int64(n)*answerBytesPerText + answerBytesPerText
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, resp.StatusCode, connectionFault(fmt.Errorf("read answer: %w", err))
	case int64(len(data)) > limit:
		return nil, resp.StatusCode, &fault{kind: ErrBadAnswer, status: resp.StatusCode, detail: fmt.Sprintf("it has more than %d bytes for %d texts", limit, n)}
	}
	results, f := c.read(data, n)
	if f != nil {
		f.status = resp.StatusCode
	}
	return results, resp.StatusCode, f
}

func (c *Client) newRequest(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the url cannot be asked") // the error would show all of it
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "kith")
	switch {
	case c.cfg.Key != "":
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	case c.endpoint.user != "" || c.endpoint.password != "":
		req.SetBasicAuth(c.endpoint.user, c.endpoint.password)
	}
	return req, nil
}

// connectionFault is that of a connection that was not made, or broke. A certificate that is not trusted will not be soon.
func connectionFault(err error) *fault {
	var inURL *url.Error
	if errors.As(err, &inURL) { // names the whole URL, which we do ourselves
		err = inURL.Err
	}
	var cert *tls.CertificateVerificationError
	return &fault{kind: ErrUnavailable, detail: err.Error(), again: !errors.As(err, &cert)}
}

// statusFault is that of an answer with another status than 200.
func (c *Client) statusFault(resp *http.Response) *fault {
	f := &fault{kind: ErrRefused, status: resp.StatusCode}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		f.ofText = true
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		f.kind, f.again = ErrUnavailable, true
		f.retryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, excerptBytes))
	switch {
	case err != nil:
		f.detail = "its text cannot be read: " + err.Error()
	case resp.StatusCode/100 == 3:
		f.detail = "redirects are not followed: want the address itself"
	default:
		f.detail = c.excerpt(data)
	}
	return f
}

// retryAfter reads the header of that name: seconds, or a time. What is neither asks for no wait.
func retryAfter(header string, now time.Time) time.Duration {
	const longest = 24 * time.Hour // beyond every timeout; more seconds than this may not fit a Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		return min(time.Duration(max(0, min(seconds, int(longest/time.Second))))*time.Second, longest)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(0, at.Sub(now)), longest)
	}
	return 0
}
