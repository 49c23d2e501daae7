// Renders a chart as Helm does, for machines without Helm: the same template engine and functions, the same values.
// Usage: render CHART RELEASE NAMESPACE <values.yaml; prints the merged values, the notes and the manifests as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type table = map[string]interface{}

// Only what is listed here exists: a template that uses more of Helm fails.
type files map[string]string

func (f files) Get(name string) string { return f[name] }

type versions []string

func (v versions) Has(version string) bool {
	for _, known := range v {
		if known == version {
			return true
		}
	}
	return false
}

type output struct {
	Values    table   `json:"values"`
	Notes     string  `json:"notes"`
	Manifests []table `json:"manifests"`
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

func main() {
	result, err := render(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder, release, namespace string) (*output, error) {
	templates, others, err := read(folder)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(others, release, namespace)
	if err != nil {
		return nil, err
	}
	name := scope["Chart"].(table)["Name"].(string)
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions()).Funcs(bound(root))
	for file, text := range templates {
		if _, err := root.New(path.Join(name, file)).Parse(text); err != nil {
			return nil, err
		}
	}
	result := &output{Values: scope["Values"].(table)}
	for file := range templates {
		if strings.HasPrefix(path.Base(file), "_") {
			continue
		}
		full := path.Join(name, file)
		scope["Template"] = table{"Name": full, "BasePath": path.Join(name, "templates")}
		text, err := execute(root, full, scope)
		if err != nil {
			return nil, err
		}
		if path.Base(file) == "NOTES.txt" {
			result.Notes = text
		} else if err := result.add(full, text); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Templates and all other files, by their path in the chart.
func read(folder string) (templates, others files, err error) {
	templates, others = files{}, files{}
	err = filepath.Walk(folder, func(file string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, file)
		text, err := os.ReadFile(file)
		if strings.HasPrefix(name, "templates/") {
			templates[name] = string(text)
		} else {
			others[name] = string(text)
		}
		return err
	})
	return
}

func scopeOf(others files, release, namespace string) (table, error) {
	chart, defaults, given := table{}, table{}, table{}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, err
	}
	for _, source := range []struct {
		text string
		into *table
	}{{others["Chart.yaml"], &chart}, {others["values.yaml"], &defaults}, {string(input), &given}} {
		if err := yaml.UnmarshalStrict([]byte(source.text), source.into); err != nil {
			return nil, err
		}
	}
	titled := table{}
	for key, value := range chart {
		titled[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return table{
		"Values":  merged(defaults, given),
		"Chart":   titled,
		"Files":   others,
		"Release": table{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
		"Capabilities": table{
			"KubeVersion": table{"Version": "v1.33.0", "Major": "1", "Minor": "33"},
			"APIVersions": versions{"v1", "apps/v1", "autoscaling/v2", "batch/v1", "networking.k8s.io/v1", "policy/v1"},
		},
	}, nil
}

// Tables are merged, anything else is replaced; null removes a default.
func merged(defaults, given table) table {
	result := table{}
	for key, value := range defaults {
		result[key] = value
	}
	for key, value := range given {
		own, isTable := value.(table)
		other, wasTable := defaults[key].(table)
		_, isKnown := defaults[key]
		if isTable && wasTable {
			result[key] = merged(other, own)
		} else if value == nil && isKnown {
			delete(result, key)
		} else {
			result[key] = value
		}
	}
	return result
}

func execute(root *template.Template, name string, scope interface{}) (string, error) {
	var text strings.Builder
	err := root.ExecuteTemplate(&text, name, scope)
	// The option missingkey=zero has no effect on tables of any values.
	return strings.ReplaceAll(text.String(), "<no value>", ""), err
}

// Functions that run other templates, which must be those of the caller.
func bound(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, scope interface{}) (string, error) { return execute(root, name, scope) },
		"tpl": func(text string, scope interface{}) (string, error) {
			copied, err := root.Clone()
			if err != nil {
				return "", err
			}
			copied.Option("missingkey=zero").Funcs(bound(copied))
			if _, err := copied.New("tpl").Parse(text); err != nil {
				return "", err
			}
			return execute(copied, "tpl", scope)
		},
	}
}

func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	all["getHostByName"] = func(string) string { return "" }
	all["lookup"] = func(string, string, string, string) table { return table{} }
	all["toYaml"] = func(value interface{}) string {
		text, _ := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n")
	}
	all["fromYaml"] = func(text string) table {
		result := table{}
		if err := yaml.Unmarshal([]byte(text), &result); err != nil {
			result["Error"] = err.Error()
		}
		return result
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	return all
}

// Adds the documents of a file. Helm accepts a key that occurs twice, Kubernetes may not: here it is an error.
func (result *output) add(name, text string) error {
	for _, document := range separator.Split(text, -1) {
		manifest := table{}
		if err := yaml.UnmarshalStrict([]byte(document), &manifest); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, document)
		}
		if len(manifest) > 0 {
			result.Manifests = append(result.Manifests, manifest)
		}
	}
	return nil
}
