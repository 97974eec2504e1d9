// Records what k8s.io/apimachinery says to the inputs in packages/apimachinery/test/goldens/recorded.jsonl.
//
//	go run . < ../../packages/apimachinery/test/goldens/recorded.jsonl > recorded.jsonl
//
// Every line has op and arg, sometimes arg2; whatever else a line has is replaced by the answer.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

type answer map[string]any

var checks = map[string]func(string) []string{
	"isDNS1123Label":             validation.IsDNS1123Label,
	"isDNS1123Subdomain":         validation.IsDNS1123Subdomain,
	"isDNS1035Label":             validation.IsDNS1035Label,
	"isWildcardDNS1123Subdomain": validation.IsWildcardDNS1123Subdomain,
	"isQualifiedName":            validation.IsQualifiedName,
	"isValidLabelValue":          validation.IsValidLabelValue,
	"isConfigMapKey":             validation.IsConfigMapKey,
	"isCIdentifier":              validation.IsCIdentifier,
	"isEnvVarName":               validation.IsEnvVarName,
	"isHTTPHeaderName":           validation.IsHTTPHeaderName,
	"isValidPortName":            validation.IsValidPortName,
	"isValidPercent":             validation.IsValidPercent,
}

var recorders = map[string]func(arg, arg2 string) answer{
	"labels": func(arg, _ string) answer {
		selector, err := labels.Parse(arg)
		if err != nil {
			return answer{"err": err.Error()}
		}
		return answer{"out": selector.String()}
	},
	"labelObject": func(arg, _ string) answer {
		var object metav1.LabelSelector
		if err := json.Unmarshal([]byte(arg), &object); err != nil {
			panic(err)
		}
		selector, err := metav1.LabelSelectorAsSelector(&object)
		if err != nil {
			return answer{"err": err.Error()}
		}
		return answer{"out": selector.String()}
	},
	"labelsMatch": func(arg, arg2 string) answer {
		selector, err := labels.Parse(arg)
		if err != nil {
			return answer{"err": err.Error()}
		}
		var set labels.Set
		if err := json.Unmarshal([]byte(arg2), &set); err != nil {
			panic(err)
		}
		return answer{"out": selector.Matches(set)}
	},
	"fields": func(arg, _ string) answer {
		selector, err := fields.ParseSelector(arg)
		if err != nil {
			return answer{"err": err.Error()}
		}
		requirements := [][]string{}
		for _, one := range selector.Requirements() {
			requirements = append(requirements, []string{one.Field, string(one.Operator), one.Value})
		}
		return answer{"out": selector.String(), "requirements": requirements}
	},
	"quantity": func(arg, _ string) answer {
		quantity, err := resource.ParseQuantity(arg)
		if err != nil {
			return answer{"err": err.Error()}
		}
		return answer{"out": quantity.String(), "format": quantity.Format, "sign": quantity.Sign()}
	},
	"quantities": func(arg, arg2 string) answer {
		a, b := resource.MustParse(arg), resource.MustParse(arg2)
		sum, difference := a.DeepCopy(), a.DeepCopy()
		sum.Add(b)
		difference.Sub(b)
		return answer{"out": a.Cmp(b), "sum": sum.String(), "difference": difference.String()}
	},
	"json": func(arg, _ string) answer {
		var value any
		if err := json.Unmarshal([]byte(arg), &value); err != nil {
			panic(err)
		}
		plain, _ := json.Marshal(value)
		indented, _ := json.MarshalIndent(value, "", "  ")
		return answer{"out": string(plain), "indented": string(indented)}
	},
	"quote": func(arg, _ string) answer { return answer{"out": strconv.Quote(arg)} },
	"valid": func(arg, _ string) answer {
		out := map[string][]string{}
		for name, check := range checks {
			if messages := check(arg); len(messages) > 0 {
				out[name] = messages
			}
		}
		return answer{"out": out}
	},
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var line struct{ Op, Arg, Arg2 string }
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			panic(err)
		}
		result := recorders[line.Op](line.Arg, line.Arg2)
		result["op"], result["arg"] = line.Op, line.Arg
		if line.Arg2 != "" {
			result["arg2"] = line.Arg2
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
}
