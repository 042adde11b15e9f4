/** The changes of one version in `CHANGELOG.md`. */
export interface ChangelogSection {
  version: string
  date: string | undefined
  body: string
}

/** A change, of a kind that Keep a Changelog and Artifact Hub share. */
export interface Change {
  kind: string
  description: string
}

const unreleased = 'Unreleased'

/** Returns the sections of a changelog in the format of Keep a Changelog, from top to bottom. */
export const parseChangelog = (text: string): ChangelogSection[] =>
  text
    .replaceAll(/^\[[^\]]+\]: \S+\n?/gm, '')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      const [, version = heading, date] = /^\[([^\]]+)\](?: - (.+))?$/.exec(heading) ?? []
      return { version, date, body: lines.join('\n').trim() }
    })

/** Returns what prevents the release of a version: its section is missing, empty or undated, or changes are unreleased. */
export const findChangelogProblems = (text: string, version: string): string[] => {
  const sections = parseChangelog(text)
  const released = sections.filter((section) => section.version !== unreleased)
  const pending = sections.find((section) => section.version === unreleased)
  const problems: string[] = []
  if (sections[0]?.version !== unreleased) problems.push('CHANGELOG.md does not start with "## [Unreleased]"; add it')
  if (pending && listChanges(pending.body).length > 0)
    problems.push(`CHANGELOG.md has unreleased entries; move them to section "${version}"`)
  const own = released.find((section) => section.version === version)
  if (own === undefined) return [...problems, `CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD"; add it`]
  if (own.date === undefined || !isDate(own.date))
    problems.push(`date "${own.date ?? ''}" of section "${version}" in CHANGELOG.md is invalid; use YYYY-MM-DD`)
  if (listChanges(own.body).length === 0)
    problems.push(`section "${version}" of CHANGELOG.md has no entries; add the changes`)
  if (released[0] !== own)
    problems.push(`section "${released[0]?.version}" of CHANGELOG.md is above "${version}"; release the newest version`)
  return problems
}

const isDate = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Returns the entries of a section with their kinds, such as `added`. An entry may continue on indented lines. */
export const listChanges = (body: string): Change[] => {
  const changes: Change[] = []
  let kind = ''
  for (const line of body.split('\n')) {
    const [, heading] = /^### (\w+)$/.exec(line) ?? []
    const [, entry] = /^- (.+)$/.exec(line) ?? []
    const [, continuation] = /^ +(\S.*)$/.exec(line) ?? []
    const last = changes.at(-1)
    if (heading !== undefined) kind = heading.toLowerCase()
    else if (entry !== undefined) changes.push({ kind, description: entry })
    else if (continuation !== undefined && last) last.description += ` ${continuation}`
  }
  return changes
}
