package main

import "runtime/debug"

// version is set by the linker in releases.
var version = ""

type versionCmd struct{}

// Run prints the version, the Go version and the commit it was built from.
func (versionCmd) Run(e *env) error {
	info, _ := debug.ReadBuildInfo()
	e.printf("kith %s\n", versionText(info))
	if info != nil {
		e.printf("go   %s\n", info.GoVersion)
	}
	return nil
}

func versionText(info *debug.BuildInfo) string {
	if version != "" {
		return version
	}
	if info == nil {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "built from " + s.Value
		}
	}
	return info.Main.Version
}

func buildVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionText(info)
}
