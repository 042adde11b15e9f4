import { readFileSync } from 'node:fs'
import { specificationDocuments, readRequirements, readTextsWithoutRequirement } from './requirements.ts'

/** Returns the lines of a Markdown document, without headings, table headers and empty lines. */
const statementsOf = (markdown: string): string[] => {
  const lines = markdown.split('\n')
  return lines.filter(
    (line, index) => !/^(#|\|[-|: ]+\|$)/.test(line) && line.trim() !== '' && !lines[index + 1]?.startsWith('|-'),
  )
}

/**
 * Removes Markdown markup and repeated spaces. In one path and one metric, the documents use another product name,
 * which is replaced with ours.
 */
const removeMarkup = (text: string): string =>
  text
    .replace(/^(#+|-|\d+\.) /, '')
    .replaceAll(/^\||\|$|`/g, '')
    .replaceAll(/\w+(?=\/health\.d|_alerts_firing)/g, 'watchhouse')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Returns the statements that the texts do not fully cover, with `…` in place of the covered parts. */
const findUnmatchedStatements = (markdown: string, texts: readonly string[]): string[] =>
  statementsOf(markdown).flatMap((statement) => {
    const rest = texts.reduce((left, text) => left.replace(text, ' … '), removeMarkup(statement))
    return /\w/.test(rest) ? [rest.replaceAll(/(\s*…\s*)+/g, ' … ')] : []
  })

/** Returns the statements of the documents without an entry, and the entries that are not in the documents. */
const compare = (paths: readonly string[]): string[] =>
  specificationDocuments.flatMap((document, index) => {
    const markdown = readFileSync(paths[index] ?? '', 'utf8')
    const requirements = readRequirements(document)
    const texts = [...requirements.map(({ text }) => text), ...readTextsWithoutRequirement(document)]
      .map(removeMarkup)
      .toSorted((one, other) => other.length - one.length)
    const lines = markdown.split('\n').map(removeMarkup)
    const gone = texts.filter((text) => !lines.some((line) => line.includes(text)))
    return [
      `${document}: ${requirements.length} requirements`,
      ...findUnmatchedStatements(markdown, texts).map((text) => `  no entry for: ${text}`),
      ...gone.map((text) => `  not in the document: ${text}`),
    ]
  })

const paths = process.argv.slice(2)
if (paths.length === specificationDocuments.length) process.stdout.write(`${compare(paths).join('\n')}\n`)
else
  process.stderr.write(
    `usage: node services/requirements/compare-with-documents.ts ${specificationDocuments.join('.md ')}.md\n`,
  )
