// Package sample carries the data set that ships with kith: what a personal memory system wrote about three people in
// one year, as the events it published, the points it left in its vector store, and questions with known answers.
//
// It serves the demonstration, the quick start and tests that want realistic input. The people are invented; the texts
// were written before anything was ranked with them, and the vectors are those of a real encoder
// (sentence-transformers/all-MiniLM-L6-v2, 384 values, unit length). README.md beside this file says how it was made,
// what every field means and what the set does not show; make/ holds the texts and the scripts.
//
// The files are embedded, so nothing is read from disk. Every call decodes afresh and the caller owns what it gets.
package sample
