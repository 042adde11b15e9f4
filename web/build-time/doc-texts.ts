import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DocText } from '#proto/http/docs.ts'

/**
 * The Markdown files of a folder in the order of their names: the number before the first dash sets the order, the rest is
 * the address of the text and, in words, its title.
 */
export const docTexts = (folder: string): DocText[] => {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  if (files.length === 0) throw new Error(`DOCS_CONTENT_ROOT: there is no Markdown file in ${folder}`)
  return files.map((file) => docText(idOf(file), readFileSync(join(folder, file), 'utf8')))
}

/** A text whose title stands above it on its page, and so not in it. */
export const docText = (id: string, text: string, title = titleOf(id)): DocText => ({
  id,
  title,
  text: text.replace(/^\s*#\s.*\n/, ''),
})

const idOf = (file: string): string => file.replace(/\.md$/, '').replace(/^\d+-/, '')

const titleOf = (id: string): string =>
  id === 'api' ? 'API' : `${id.charAt(0).toUpperCase()}${id.slice(1).replaceAll('-', ' ')}`
