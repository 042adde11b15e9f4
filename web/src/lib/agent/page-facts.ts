import type { Catalogue } from '#proto/catalogue.ts'
import type { ReadableParameters } from '#lib/state/range.ts'
import { menuGroups } from '#lib/ui/menu-groups.ts'
import { listGroupPages } from '#lib/ui/menu.ts'

/** A fact about a page for the agent, such as `{ name: 'Table', value: 'shop.orders' }`. */
export interface PageFact {
  name: string
  value: string
}

/** The location of a page, as given by the router and the URL. */
export interface PageLocation {
  /** The route pattern, such as `/queries/[id]`. */
  route: string
  path: string
  parts: Readonly<Record<string, string | undefined>>
  search: ReadableParameters
}

/** Labels of the path parameter that identifies the subject of a page, by route. */
const partNames: Readonly<Record<string, string>> = {
  '/queries/[id]': 'Query id',
  '/fingerprints/[hash]': 'Fingerprint',
}

/** Labels of query parameters that describe a page. Statements are left out, as they may be long. */
const parameterNames: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  diagnose: 'Condition',
  filter: 'Filter',
  search: 'Search',
}

/** Limits that the agent service enforces. */
const maxValueLength = 300
const maxFacts = 12

/** Returns the facts about a page that its URL contains, except host and time range. */
export const listPageFacts = (place: PageLocation): PageFact[] => {
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
  return facts.slice(0, maxFacts).map(({ name, value }) => ({ name, value: value.slice(0, maxValueLength) }))
}

/** Returns the title of a page. */
export const formatPageTitle = ({ route, path, parts }: PageLocation, catalogue: Catalogue | undefined): string => {
  const titles: Readonly<Record<string, string | undefined>> = {
    '/tables/[name]': catalogue?.tables.find(({ name }) => name === parts['name'])?.title,
    '/charts/[name]': catalogue?.charts.find(({ name }) => name === parts['name'])?.title,
    '/topics/[topic]': catalogue?.topics.find(({ id }) => id === parts['topic'])?.title,
    '/queries/[id]': 'Query',
    '/fingerprints/[hash]': 'Fingerprint',
    '/docs/[[page]]': 'Documentation',
  }
  const ofMenu = menuGroups.flatMap(listGroupPages).find((page) => page.path === path)
  return titles[route] ?? ofMenu?.title ?? path.slice(0, maxValueLength)
}
