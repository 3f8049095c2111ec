"""From generated sources to an installed, importable package.

| module | what it does |
| --- | --- |
| `compiler` | finds the C compiler and says how it is called |
| `processes` | runs commands; the only place of symgen that starts processes |
| `tasks` | commands that wait for each other, side by side |
| `compile` | extensions of a `SourceBundle` -> binaries |
| `key` | what a build depends on, as digests |
| `cache` | what one user keeps between builds |
| `workspace` | folders that exist only while a build runs |
| `manifest` | which files of a package folder are ours |
| `install` | staged files -> package folder, never half of it |
| `signals` | steps that Ctrl-C waits for |
| `files` | small operations that the others share |
| `loading` | package folder -> module |
"""
