import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../src/routes', import.meta.url))

/** All routes of the application, derived from the folders of its pages. */
export const routes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('+page.svelte'))
  .map((file) => `/${file.replace(/\/?\+page\.svelte$/, '')}`)
  .toSorted()
