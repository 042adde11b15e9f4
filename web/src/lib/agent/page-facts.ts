import type { Catalogue } from '#proto/catalogue.ts'
import type { ReadableParameters } from '#lib/state/range.ts'
import { menuSections } from '#lib/ui/menu.ts'

/** One thing that a page is about: `{ name: 'Table', value: 'shop.orders' }`. */
export interface PageFact {
  name: string
  value: string
}

/** Where somebody is, as the router and the URL say it. */
export interface Place {
  /** The route with its parts unfilled, such as `/queries/[id]`. */
  route: string
  path: string
  parts: Readonly<Record<string, string | undefined>>
  search: ReadableParameters
}

/** Parts of paths that name what a page is about. */
const partNames: Readonly<Record<string, string>> = {
  '/queries/[id]': 'Query id',
  '/fingerprints/[hash]': 'Fingerprint',
}

/** Parameters of URLs that do so. The text of statements is not among them: it may be long, and belongs in the question. */
const parameterNames: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  diagnose: 'Condition',
  filter: 'Filter',
  search: 'Search',
}

/** What the service takes of each. */
const longest = 300
const mostFacts = 12

/** What a page is about beside its host and time. */
export const pageFacts = (place: Place): PageFact[] => {
  const { route, parts, search } = place
  const part = Object.values(parts)[0]
  const partName = partNames[route]
  const [database, table] = [search.get('database'), search.get('table')]
  const facts = [
    ...(partName && part ? [{ name: partName, value: part }] : []),
    ...(database && table ? [{ name: 'Table', value: `${database}.${table}` }] : []),
    ...(database && !table ? [{ name: 'Database', value: database }] : []),
    ...Object.entries(parameterNames).flatMap(([parameter, name]) =>
      search.getAll(parameter).map((value) => ({ name, value })),
    ),
  ]
  return facts.slice(0, mostFacts).map(({ name, value }) => ({ name, value: value.slice(0, longest) }))
}

/** What the page is called. */
export const pageTitle = ({ route, path, parts }: Place, catalogue: Catalogue | undefined): string => {
  const titles: Readonly<Record<string, string | undefined>> = {
    '/tables/[name]': catalogue?.tables.find(({ name }) => name === parts['name'])?.title,
    '/charts/[name]': catalogue?.charts.find(({ name }) => name === parts['name'])?.title,
    '/topics/[topic]': catalogue?.topics.find(({ id }) => id === parts['topic'])?.title,
    '/queries/[id]': 'Query',
    '/fingerprints/[hash]': 'Fingerprint',
    '/docs/[[page]]': 'Documentation',
  }
  const ofMenu = menuSections.flatMap(({ pages }) => pages).find((page) => page.path === path)
  return titles[route] ?? ofMenu?.title ?? path.slice(0, longest)
}
