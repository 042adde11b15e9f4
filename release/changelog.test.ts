import { describe, expect, it } from 'vitest'
import { findChangelogProblems, listChanges, parseChangelog } from './changelog.ts'

const changelog = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Added

#### Alerts

- A channel.
- A rule for slow
  merges.

### Security

- Stricter grants.

## [0.1.0] - 2026-11-28

### Added

- Everything.

[0.1.0]: https://example.com/v0.1.0
`

describe('the changelog', () => {
  it('has a section for each version, without its links', () => {
    expect(parseChangelog(changelog).map(({ version, date }) => [version, date])).toEqual([
      ['Unreleased', undefined],
      ['0.2.0', '2026-12-01'],
      ['0.1.0', '2026-11-28'],
    ])
    expect(parseChangelog(changelog).at(-1)?.body).toBe('### Added\n\n- Everything.')
  })

  it('lists the entries of a version with their kinds', () => {
    expect(listChanges(parseChangelog(changelog)[1]?.body ?? '')).toEqual([
      { kind: 'added', description: 'A channel.' },
      { kind: 'added', description: 'A rule for slow merges.' },
      { kind: 'security', description: 'Stricter grants.' },
    ])
  })

  it('allows the release of its newest version', () => {
    expect(findChangelogProblems(changelog, '0.2.0')).toEqual([])
  })

  it.each([
    [
      'an older version',
      changelog,
      '0.1.0',
      'section "0.2.0" of CHANGELOG.md is above "0.1.0"; release the newest version',
    ],
    ['a missing section', changelog, '0.3.0', 'CHANGELOG.md has no section "## [0.3.0] - YYYY-MM-DD"; add it'],
    [
      'a missing date',
      changelog.replace(' - 2026-12-01', ''),
      '0.2.0',
      'date "" of section "0.2.0" in CHANGELOG.md is invalid; use YYYY-MM-DD',
    ],
    [
      'a date that does not exist',
      changelog.replace('2026-12-01', '2026-02-30'),
      '0.2.0',
      'date "2026-02-30" of section "0.2.0" in CHANGELOG.md is invalid; use YYYY-MM-DD',
    ],
    [
      'unreleased entries',
      changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Fixed\n\n- A leak.\n'),
      '0.2.0',
      'CHANGELOG.md has unreleased entries; move them to section "0.2.0"',
    ],
    [
      'an empty section',
      changelog.replaceAll(/^( {2}|- ).*$/gm, ''),
      '0.2.0',
      'section "0.2.0" of CHANGELOG.md has no entries; add the changes',
    ],
    [
      'no section for unreleased changes',
      changelog.replace('## [Unreleased]\n', ''),
      '0.2.0',
      'CHANGELOG.md does not start with "## [Unreleased]"; add it',
    ],
  ])('prevents a release with %s', (_what, text, version, problem) => {
    expect(findChangelogProblems(text, version)).toEqual([problem])
  })
})
