package config

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Embed says which endpoint makes vectors of texts; without a URL, texts are searched by keyword only.
type Embed struct {
	URL           string        `name:"embed-url" env:"KITH_EMBED_URL" placeholder:"URL" help:"OpenAI-compatible endpoint that makes vectors of texts, like http://host:8080 or https://host/v1; empty searches texts by keyword." secret:"url"`
	Model         string        `name:"embed-model" env:"KITH_EMBED_MODEL" placeholder:"NAME" help:"Its model: the one that made the collection's vectors."`
	Key           string        `name:"embed-key" env:"KITH_EMBED_KEY" placeholder:"KEY" help:"Key that is sent to it as a bearer token." secret:"all"`
	Dimension     int           `name:"embed-dimension" env:"KITH_EMBED_DIMENSION" default:"0" help:"Elements of its vectors; 0 takes what the first answer has."`
	Shorten       bool          `name:"embed-shorten" env:"KITH_EMBED_SHORTEN" help:"Ask the model for vectors of embed-dimension elements, which only some models can."`
	Timeout       time.Duration `name:"embed-timeout" env:"KITH_EMBED_TIMEOUT" default:"5s" help:"Longest time it may take for a text, retries included; less than search-timeout."`
	QueryPrefix   string        `name:"embed-query-prefix" env:"KITH_EMBED_QUERY_PREFIX" placeholder:"TEXT" help:"Put before a text that is searched for, where the model wants that, like 'query: '."`
	PassagePrefix string        `name:"embed-passage-prefix" env:"KITH_EMBED_PASSAGE_PREFIX" placeholder:"TEXT" help:"Put before the content of a point that is published without a vector, like 'passage: '."`
	Accept        []string      `name:"embed-accept" env:"KITH_EMBED_ACCEPT" placeholder:"NAME,..." help:"Models that are taken although the data directory remembers another, and names under which the endpoint may answer for its model."`
}

func (e Embed) validate(searchLimit time.Duration) error {
	errs := []error{
		between("KITH_EMBED_DIMENSION", e.Dimension, 0, 65_536),
		between("KITH_EMBED_TIMEOUT", e.Timeout, time.Millisecond, 10*time.Minute),
	}
	switch u, err := url.Parse(e.URL); {
	case e.URL == "":
		if e.Model != "" {
			errs = append(errs, fmt.Errorf("KITH_EMBED_MODEL %q without KITH_EMBED_URL: want both or neither", e.Model))
		}
		if e.Key != "" {
			errs = append(errs, errors.New("KITH_EMBED_KEY without KITH_EMBED_URL: want an endpoint to send it to"))
		}
		return errors.Join(errs...)
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		errs = append(errs, errors.New("KITH_EMBED_URL: want http(s)://host:port")) // any part of it may be a secret
	}
	if e.Model == "" {
		errs = append(errs, errors.New("KITH_EMBED_URL without KITH_EMBED_MODEL: want the model that made the collection's vectors"))
	}
	if e.Shorten && e.Dimension == 0 {
		errs = append(errs, errors.New("KITH_EMBED_SHORTEN true with KITH_EMBED_DIMENSION 0: want the dimension to shorten to"))
	}
	if e.Timeout >= searchLimit {
		errs = append(errs, fmt.Errorf("KITH_EMBED_TIMEOUT %v: want less than KITH_SEARCH_TIMEOUT, %v, or a text that is not embedded in time cannot be searched by keyword either", e.Timeout, searchLimit))
	}
	return errors.Join(errs...)
}
