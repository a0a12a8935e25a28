package canary

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxPlaces bounds how many places of one text in one class of files a report lists; all are counted.
const MaxPlaces = 3

// Report is what a search through a directory found.
type Report struct {
	Dir      string  `json:"dir"`
	Canaries int     `json:"canaries"` // looked for
	Files    int     `json:"files"`
	Bytes    int64   `json:"bytes"` // searched
	Classes  []Class `json:"classes"`
	Hits     []Hit   `json:"hits,omitempty"`
	// Vanished are files that were listed and gone when they were to be read: the stores replace theirs while they run.
	Vanished []string `json:"vanished,omitempty"`
}

// Class is what was looked at of one class of files.
type Class struct {
	Class string `json:"class"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"` // searched
}

// Hit is a text that was found in a class of files.
type Hit struct {
	Canary

	Class  string  `json:"class"`
	Count  int     `json:"count"`
	Places []Place `json:"places"` // the first of them
}

// Place is where a text begins.
type Place struct {
	File   string `json:"file"` // relative to the directory
	Offset int64  `json:"offset"`
}

// class returns the account of a class, a new one if need be.
func (r *Report) class(name string) *Class {
	for i := range r.Classes {
		if r.Classes[i].Class == name {
			return &r.Classes[i]
		}
	}
	r.Classes = append(r.Classes, Class{Class: name})
	return &r.Classes[len(r.Classes)-1]
}

// hits collects what is found, by text and class.
type hits struct {
	index map[[2]string]int
	all   []Hit
}

func (h *hits) add(c Canary, class string, at Place) {
	key := [2]string{c.Text, class}
	i, known := h.index[key]
	if !known {
		i = len(h.all)
		h.index[key] = i
		h.all = append(h.all, Hit{Canary: c, Class: class})
	}
	hit := &h.all[i]
	hit.Count++
	if len(hit.Places) < MaxPlaces {
		hit.Places = append(hit.Places, at)
	}
}

// Search reads every regular file below dir and looks for the texts. classify names what a file belongs to, from its path
// below dir with slashes. A file that cannot be read is an error: a search that has not seen everything proves nothing.
// Files that grow while they are read are read as far as they then go.
//
// It must not run in a process that has one of the files open under POSIX locks, as SQLite has: closing a file drops them.
func (f *Finder) Search(dir string, classify func(path string) string) (Report, error) {
	report := Report{Dir: dir, Canaries: len(f.canaries)}
	found := hits{index: map[[2]string]int{}}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path) // path is below dir
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != dir:
			report.Vanished = append(report.Vanished, rel)
			return nil
		case err != nil:
			return err
		case !entry.Type().IsRegular():
			return nil
		}
		class := report.class(classify(filepath.ToSlash(rel)))
		n, err := f.searchFile(path, func(canary int, offset int64) {
			found.add(f.canaries[canary], class.Class, Place{File: rel, Offset: offset})
		})
		if errors.Is(err, fs.ErrNotExist) {
			report.Vanished = append(report.Vanished, rel)
			return nil
		}
		class.Files, class.Bytes = class.Files+1, class.Bytes+n
		report.Files, report.Bytes = report.Files+1, report.Bytes+n
		return err
	})
	report.Hits = found.all
	if err != nil {
		return report, fmt.Errorf("search files: %w", err)
	}
	return report, nil
}

// chunkBytes is how much of a file is in memory at a time.
const chunkBytes = 4 << 20

// searchFile reads a file in chunks that overlap by the longest form less one byte, so that nothing is lost between two.
func (f *Finder) searchFile(path string, found func(canary int, offset int64)) (read int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	overlap := max(0, f.longest-1)
	buf := make([]byte, 0, chunkBytes+overlap)
	for {
		n, err := io.ReadFull(file, buf[len(buf):len(buf)+chunkBytes])
		kept := len(buf)
		buf = buf[:kept+n]
		read += int64(n)
		start := read - int64(len(buf)) // of the chunk in the file
		f.Find(buf, func(canary, offset, length int) bool {
			if offset+length > kept { // else it was found with the chunk before
				found(canary, start+int64(offset))
			}
			return true
		})
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return read, nil
		case err != nil:
			return read, err
		}
		keep := min(overlap, len(buf))
		buf = buf[:copy(buf, buf[len(buf)-keep:])]
	}
}
