import type { Catalogue } from '#proto/catalogue.ts'
import type { MenuGroup } from '#lib/ui/menu-groups.ts'
import { menuTexts } from '#lib/ui/menu-texts.ts'
import { findTopicGroup, listGroupPages, listMenuTopics } from '#lib/ui/menu.ts'

interface BrowseEntry {
  path: string
  title: string
  doc: string
}

/** The pages of a group, or the table pages and charts of one of its topics. */
export interface BrowseSection {
  title: string
  /** The page of the topic. */
  path?: string
  entries: BrowseEntry[]
}

/** Returns all pages of a group by topic. No page occurs twice. */
export const listBrowseSections = (group: MenuGroup, catalogue: Catalogue | undefined): BrowseSection[] => {
  const own = listGroupPages(group).map(({ path, title }) => {
    const definition = catalogue?.tables.find(({ name }) => path === `/tables/${name}`)
    return { path, title, doc: menuTexts[path]?.doc ?? definition?.doc ?? '' }
  })
  const listed = new Set(own.map(({ path }) => path))
  const topics = catalogue ? listMenuTopics(catalogue).filter(({ id }) => findTopicGroup(id) === group.id) : []
  const ofTopics = topics.flatMap(({ id, title }): BrowseSection[] => {
    const of = (kind: 'tables' | 'charts', what: string): BrowseSection => ({
      title: `${title}: ${what}`,
      path: `/topics/${id}`,
      entries: (catalogue?.[kind] ?? [])
        .filter(({ topic, name }) => topic === id && !listed.has(`/${kind}/${name}`))
        .map(({ name, title: entryTitle, doc }) => ({ path: `/${kind}/${name}`, title: entryTitle, doc })),
    })
    return [of('tables', 'tables'), of('charts', 'charts')]
  })
  return [{ title: 'Pages', entries: own }, ...ofTopics].filter(({ entries }) => entries.length > 0)
}

/** Returns the sections with the entries that contain every word of a text. */
export const filterSections = (sections: readonly BrowseSection[], search: string): BrowseSection[] => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const isFound = (section: BrowseSection, { title, doc, path }: BrowseEntry): boolean => {
    const text = `${section.title} ${title} ${doc} ${path}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return sections
    .map((section) => ({ ...section, entries: section.entries.filter((entry) => isFound(section, entry)) }))
    .filter(({ entries }) => entries.length > 0)
}
