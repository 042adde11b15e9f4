import type { Feature } from '#proto/call.ts'
import type { InstallationCapabilities } from '#proto/http/config.ts'
import type { Catalogue, TableInfo } from '#proto/catalogue.ts'
import { menuGroups, type MenuGroup, type MenuGroupId, type MenuPage } from './menu-groups.ts'

/** The capabilities of the installation, its catalogue, and the permissions of the user. */
interface MenuContext {
  isOffered: (feature: Feature) => boolean
  offers: InstallationCapabilities | undefined
  mayWrite: boolean | undefined
  /** Undefined while loading. Until then, the pages of the catalogue count as available. */
  catalogue: Catalogue | undefined
}

/** Returns the groups with the pages that are available to the user. A group without pages is left out. */
export const filterMenuGroups = (context: MenuContext): MenuGroup[] =>
  menuGroups
    .map(({ page, ...group }): MenuGroup => {
      const pages = group.pages.filter((each) => isPageAvailable(context, each))
      return { ...group, pages, ...(page && isPageAvailable(context, page) ? { page } : {}) }
    })
    .filter(({ page, pages }) => page !== undefined || pages.length > 0)

const isPageAvailable = (
  { isOffered, offers, mayWrite, catalogue }: MenuContext,
  { path, feature, offer, isForWriting }: MenuPage,
): boolean =>
  (!feature || isOffered(feature)) &&
  (!offer || offers?.[offer] === true) &&
  (!isForWriting || mayWrite !== false) &&
  (catalogue === undefined || isInCatalogue(catalogue, path))

/** Returns whether the definitions of a page exist. Pages that need none always do. */
const isInCatalogue = (catalogue: Catalogue, path: string): boolean => {
  const [, kind, name] = path.split('/')
  if (kind === 'tables') return catalogue.tables.some((table) => table.name === name)
  if (kind === 'topics') return [...catalogue.tables, ...catalogue.charts].some(({ topic }) => topic === name)
  return true
}

/** Returns the pages of a group, the main page first. */
export const listGroupPages = ({ page, pages }: MenuGroup): MenuPage[] => [...(page ? [page] : []), ...pages]

/** Returns the path that the title of a group opens: its main page, or the list of all pages of the group. */
export const getGroupPath = ({ id, page }: MenuGroup): string => page?.path ?? `/browse/${id}`

/** Returns the group that contains a page of the catalogue: a topic, a table page or a chart. */
export const findTopicGroup = (topic: string): MenuGroupId =>
  menuGroups.find(({ topics }) => topics.includes(topic))?.id ?? otherTopicsGroup

/** The group of topics that only custom definitions use. */
const otherTopicsGroup: MenuGroupId = 'fleet'

/** Returns the group of a path; undefined for a page that is in no group. */
export const findPathGroup = (path: string, catalogue: Catalogue | undefined): MenuGroupId | undefined => {
  const [, kind, name = ''] = path.split('/')
  const listed = menuGroups.find(
    (group) => listGroupPages(group).some((page) => page.path === path) || path === `/browse/${group.id}`,
  )
  if (listed) return listed.id
  if (kind === 'topics') return findTopicGroup(name)
  if (kind === 'tables' || kind === 'charts') {
    const topic = catalogue?.[kind].find((each) => each.name === name)?.topic
    return topic === undefined ? undefined : findTopicGroup(topic)
  }
  return menuGroups.find(
    (group) =>
      group.paths?.includes(`/${kind}`) || listGroupPages(group).some((page) => path.startsWith(`${page.path}/`)),
  )?.id
}

/** Heights of the menu in pixels. */
interface MenuHeights {
  /** The height of the menu. */
  available: number
  row: number
  /** The gap between groups. */
  gap: number
}

/** The order in which groups give way if not all fit, last first. Groups that are not listed are closed by default. */
const openOrder: readonly MenuGroupId[] = ['queries', 'data', 'replication']

/**
 * Returns the groups that are open by default: that of the current page, and the most used groups as far as all
 * entries fit into the height. `otherRows` counts entries outside the groups.
 */
export const chooseOpenGroups = (
  groups: readonly MenuGroup[],
  current: MenuGroupId | undefined,
  otherRows: number,
  { available, row, gap }: MenuHeights,
): Set<MenuGroupId> => {
  const rowsOf = (id: MenuGroupId): number => groups.find((group) => group.id === id)?.pages.length ?? 0
  let free = available - (groups.length + otherRows) * row - groups.length * gap
  const open = new Set<MenuGroupId>()
  for (const id of [...(current ? [current] : []), ...openOrder]) {
    if (open.has(id) || (rowsOf(id) * row > free && id !== current)) continue
    open.add(id)
    free -= rowsOf(id) * row
  }
  return open
}

/** Which groups of the menu the user opened or closed, by id. */
export type MenuChoices = Readonly<Record<string, boolean>>

/** Returns the valid choices. Earlier releases stored a list of open topics, which is ignored. */
export const readMenuChoices = (stored: unknown): MenuChoices =>
  typeof stored === 'object' && stored !== null && !Array.isArray(stored)
    ? Object.fromEntries(
        Object.entries(stored).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
      )
    : {}

/** A topic of the catalogue with its tables and the number of its charts. */
export interface MenuTopic {
  id: string
  title: string
  tables: readonly TableInfo[]
  charts: number
}

/** Returns the non-empty topics, in catalogue order, followed by those that only custom definitions use. */
export const listMenuTopics = ({ topics, tables, charts }: Catalogue): MenuTopic[] => {
  const tablesOf = Map.groupBy(tables, (table) => table.topic)
  const chartsOf = Map.groupBy(charts, (chart) => chart.topic)
  const titles = new Map(topics.map(({ id, title }) => [id, title]))
  const ids = new Set([...titles.keys(), ...tablesOf.keys(), ...chartsOf.keys()])
  return [...ids]
    .map((id) => ({
      id,
      title: titles.get(id) ?? formatTopicTitle(id),
      tables: tablesOf.get(id) ?? [],
      charts: chartsOf.get(id)?.length ?? 0,
    }))
    .filter((topic) => topic.tables.length + topic.charts > 0)
}

const formatTopicTitle = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
