/** One text of the documentation. */
export interface DocText {
  /** The last part of its address. */
  id: string
  title: string
  load: () => Promise<string>
}

const files = import.meta.glob<string>('#docs/*.md', { query: '?raw', import: 'default' })

/** `…/2-the-pages.md` is `the-pages`: the number sets the order and is told nowhere. */
const idOf = (path: string): string => /([^/]+)\.md$/.exec(path)?.[1]?.replace(/^\d+-/, '') ?? path

const titleOf = (id: string): string =>
  id === 'api' ? 'API' : `${id.charAt(0).toUpperCase()}${id.slice(1).replaceAll('-', ' ')}`

const written = Object.entries(files)
  .toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
  .map(([path, load]): DocText => ({ id: idOf(path), title: titleOf(idOf(path)), load }))

/** Every text, in its order; what is written ends with the reference of the settings, which is generated. */
export const texts: readonly DocText[] = [
  ...written,
  { id: 'settings', title: 'Settings reference', load: async () => (await import('#config/REFERENCE.md?raw')).default },
]

/** The text below its title, which stands above it on the page. */
export const withoutTitle = (text: string): string => text.replace(/^\s*#\s.*\n/, '')
