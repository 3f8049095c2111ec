"""From generated sources to an installed, importable package.

| module | task |
| --- | --- |
| `compiler` | finds the C compiler and writes its command lines |
| `processes` | runs commands; no other module starts processes |
| `tasks` | runs commands that depend on each other in parallel |
| `extensions` | compiles the extensions of a `SourceBundle`; explains errors in printed code |
| `key` | digests of everything that a build depends on |
| `cache` | binaries and packages that are kept between builds |
| `workspace` | folders that exist only while a build runs |
| `manifest` | the list of symgen's files in a package folder |
| `install` | moves staged files into the package folder, all or none |
| `signals` | steps that Ctrl-C waits for |
| `files` | shared operations on files |
| `loading` | imports a package from its folder |
| `wheels` | wheels and source distributions, installation in this environment |
"""
