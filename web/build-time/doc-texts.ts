import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DocPage } from '#proto/http/docs.ts'

/**
 * Returns a documentation page for each Markdown file of a folder, sorted by file name. The number before the first
 * dash sets the order. The rest of the name is the page id, from which the title is derived. Throws if there are none.
 */
export const readDocPages = (folder: string): DocPage[] => {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  if (files.length === 0) throw new Error(`DOCS_CONTENT_ROOT: no Markdown files in "${folder}"`)
  return files.map((file) => createDocPage(idOf(file), readFileSync(join(folder, file), 'utf8')))
}

/** Returns a documentation page. The first heading is removed, because the UI shows the title separately. */
export const createDocPage = (id: string, text: string, title = titleOf(id)): DocPage => ({
  id,
  title,
  text: text.replace(/^\s*#\s.*\n/, ''),
})

const idOf = (file: string): string => file.replace(/\.md$/, '').replace(/^\d+-/, '')

const titleOf = (id: string): string =>
  id === 'api' ? 'API' : `${id.charAt(0).toUpperCase()}${id.slice(1).replaceAll('-', ' ')}`
