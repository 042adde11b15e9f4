import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const routesFolder = fileURLToPath(new URL('../src/routes', import.meta.url))

/** All routes of the application, derived from the folders of its pages. */
export const routes = readdirSync(routesFolder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('+page.svelte'))
  .map((file) => `/${file.replace(/\/?\+page\.svelte$/, '')}`)
  .toSorted()
