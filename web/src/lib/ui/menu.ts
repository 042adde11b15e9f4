import type { Catalogue, TableInfo } from '#proto/catalogue.ts'

/** A group of the sidebar: a topic of the catalogue with its table pages. */
export interface MenuGroup {
  title: string
  tables: readonly TableInfo[]
}

/** The table pages by topic, in the order of the catalogue; topics without pages are left out. */
export const menuGroups = ({ topics, tables }: Catalogue): MenuGroup[] => {
  const byTopic = Map.groupBy(tables, (table) => table.topic)
  const known = topics.map(({ id, title }) => ({ title, tables: byTopic.get(id) ?? [] }))
  const ids = new Set(topics.map((topic) => topic.id))
  const unnamed = [...byTopic]
    .filter(([id]) => !ids.has(id))
    .map(([id, found]) => ({ title: sentence(id), tables: found }))
  return [...known, ...unnamed].filter((group) => group.tables.length > 0)
}

const sentence = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
