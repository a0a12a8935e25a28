package server

import (
	"errors"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// partialProblem is the problem document of work that ended with an error after it had done something. The fields of the
// document are the embedded ones, so_far is what the answer would have been.
type partialProblem[T any] struct {
	huma.ErrorModel
	SoFar *T `json:"so_far,omitempty" doc:"What was done before the error, as the answer tells it; absent if nothing was."`
}

// withPartial adds to an error of the API what was done before it.
func withPartial[T any](err error, soFar T) error {
	var model *huma.ErrorModel
	if !errors.As(err, &model) {
		return err
	}
	return &partialProblem[T]{*model, &soFar}
}

// partialResponses describes the errors of an operation that may come with a part of its work.
func partialResponses[T any](api huma.API, name string) map[string]*huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[partialProblem[T]](), true, name)
	return map[string]*huma.Response{"default": {
		Description: "Error",
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schema}},
	}}
}
