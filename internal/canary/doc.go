// Package canary looks for texts in the bytes of files: texts that were taken from somebody's data before it was erased,
// and that must be nowhere afterwards.
//
// A text is looked for in the forms in which a store may keep it (see [Set.Add]). What a store keeps compressed, encrypted
// or cut into pieces is not found by it: the search complements asking the stores, it does not take the place of that.
package canary
