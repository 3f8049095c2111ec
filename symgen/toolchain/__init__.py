"""From generated sources to an installed, importable package.

| module | task |
| --- | --- |
| `compiler` | finds the C compiler and says how it is called |
| `processes` | runs commands; no other module starts processes |
| `tasks` | commands that wait for each other, side by side |
| `compile` | extensions of a `SourceBundle` -> binaries; faults in what was printed |
| `key` | digests of all that a build depends on |
| `cache` | binaries and packages that a user keeps between builds |
| `workspace` | folders that exist only while a build runs |
| `manifest` | the list of our files in a package folder |
| `install` | staged files -> package folder, never half of it |
| `signals` | steps that Ctrl-C waits for |
| `files` | small operations that the others share |
| `loading` | package folder -> module |
| `wheels` | package folder -> wheel, source distribution, this environment |
"""
