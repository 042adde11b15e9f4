import type { Feature } from '#proto/call.ts'
import type { Offers } from '#proto/http/config.ts'
import type { Catalogue, TableInfo } from '#proto/catalogue.ts'

/** A page with a place of its own in the menu and in the command palette. */
export interface MenuPage {
  path: string
  title: string
  /** Not offered where the installation lacks this feature. */
  feature?: Feature
  /** Not offered where the installation is not set up for this. */
  offer?: keyof Offers
  /** Not offered to who may not change anything. */
  isForWriting?: boolean
  /** Further words by which the palette finds it. */
  words?: string
}

/** Pages that belong together, under a title; one without stands at the top. */
export interface MenuSection {
  title: string | null
  pages: readonly MenuPage[]
}

/** Every page that is no topic of the catalogue, one a line, in the order of the menu. */
export const menuSections: readonly MenuSection[] = [
  {
    title: null,
    pages: [
      { path: '/overview', title: 'Overview', feature: 'OVERVIEW', words: 'home start dashboard' },
      { path: '/fleet', title: 'Fleet', feature: 'OVERVIEW', words: 'hosts outliers drift versions' },
      { path: '/hosts', title: 'Hosts', words: 'connections add servers' },
      { path: '/health', title: 'Health', feature: 'HEALTH', words: 'alerts conditions firing' },
    ],
  },
  {
    title: 'Alerts and insights',
    pages: [
      { path: '/insights', title: 'Insights', feature: 'INSIGHTS', words: 'findings anomalies forecasts evidence' },
      { path: '/reports', title: 'Reports', feature: 'INSIGHTS', words: 'weekly report score' },
      { path: '/alerts/rules', title: 'Rules', feature: 'HEALTH', words: 'thresholds hysteresis checks alerts digest' },
      { path: '/alerts/channels', title: 'Channels', feature: 'HEALTH', words: 'alerts notify webhook mail test' },
      {
        path: '/alerts/schedule',
        title: 'Quiet times, routes',
        feature: 'HEALTH',
        words: 'maintenance quiet hours routes',
      },
      { path: '/alerts/events', title: 'Inbound events', feature: 'HEALTH', words: 'ingest webhooks received' },
      { path: '/alerts/deliveries', title: 'Deliveries', feature: 'HEALTH', words: 'dead letters replay sent' },
      {
        path: '/alerts/webhooks',
        title: 'Your webhooks',
        feature: 'HEALTH',
        offer: 'subscriptions',
        words: 'subscribe signed',
      },
    ],
  },
  {
    title: 'Queries and data',
    pages: [
      {
        path: '/fingerprints',
        title: 'Fingerprints',
        feature: 'QUERIES',
        words: 'query patterns slow normalized regressions',
      },
      { path: '/console', title: 'SQL console', feature: 'QUERIES', words: 'run select editor' },
      { path: '/explain', title: 'Explain', feature: 'QUERIES', words: 'plan pipeline ast estimate' },
      {
        path: '/explorer',
        title: 'Explorer',
        feature: 'TABLES',
        words: 'databases tables columns ddl schema dependencies',
      },
      {
        path: '/storage',
        title: 'Storage and forecast',
        feature: 'METRICS',
        words: 'disks volumes growth full free space',
      },
      { path: '/parts', title: 'Parts', feature: 'TABLES', words: 'partitions treemap sizes disk detached' },
      { path: '/ingestion', title: 'Ingestion', feature: 'METRICS', words: 'inserts asynchronous kafka rows written' },
      { path: '/backups', title: 'Backups', feature: 'OPERATIONS', words: 'restore recovery failed backup' },
      { path: '/topology', title: 'Cluster topology', feature: 'CLUSTER', words: 'shards replicas clusters' },
      {
        path: '/settings-diff',
        title: 'Settings side by side',
        feature: 'SETTINGS',
        words: 'diff differences drift configuration',
      },
      { path: '/compare', title: 'Hosts side by side', feature: 'QUERIES', words: 'comparison compare hosts' },
    ],
  },
  {
    title: 'Beside ClickHouse',
    pages: [
      {
        path: '/repldb',
        title: 'Replication',
        feature: 'REPLDB',
        offer: 'replicationService',
        words: 'mirrors peers slots lag',
      },
      {
        path: '/postgres',
        title: 'PostgreSQL',
        offer: 'postgresSource',
        words: 'locks sessions statements vacuum slots',
      },
    ],
  },
  {
    title: 'Agent and tools',
    pages: [
      { path: '/agents', title: 'Agent', feature: 'AGENT', words: 'ask question chat assistant model ai' },
      { path: '/mcp', title: 'Tool server', feature: 'MCP', words: 'mcp model context protocol claude cursor tools' },
    ],
  },
  {
    title: 'Set up',
    pages: [
      { path: '/api-keys', title: 'API keys', words: 'tokens secrets scopes revoke programs' },
      {
        path: '/management',
        title: 'Users and grants',
        feature: 'SECURITY',
        offer: 'management',
        words: 'roles access',
      },
      { path: '/audit', title: 'Audit log', feature: 'ACTIONS', isForWriting: true, words: 'who did what records' },
      { path: '/docs', title: 'Documentation', feature: 'DOCS', words: 'help manual guide api settings' },
      {
        path: '/about',
        title: 'About',
        feature: 'ABOUT',
        words: 'version edition build commit licence billing features limits',
      },
    ],
  },
]

/** What the installation has, and what who looks may do. */
interface Offering {
  isOffered: (feature: Feature) => boolean
  offers: Offers | undefined
  mayWrite: boolean | undefined
}

/** What a caller may be offered of the menu. */
export const offeredSections = (offering: Offering): MenuSection[] =>
  menuSections
    .map(({ title, pages }) => ({ title, pages: pages.filter((page) => isFor(offering, page)) }))
    .filter(({ pages }) => pages.length > 0)

const isFor = ({ isOffered, offers, mayWrite }: Offering, { feature, offer, isForWriting }: MenuPage): boolean =>
  (!feature || isOffered(feature)) && (!offer || offers?.[offer] === true) && (!isForWriting || mayWrite !== false)

/** A topic of the catalogue with its table pages and the number of its charts. */
export interface MenuTopic {
  id: string
  title: string
  tables: readonly TableInfo[]
  charts: number
}

/** The topics in the order of the catalogue, then those that only definitions of the operator name; empty ones are left out. */
export const menuTopics = ({ topics, tables, charts }: Catalogue): MenuTopic[] => {
  const tablesOf = Map.groupBy(tables, (table) => table.topic)
  const chartsOf = Map.groupBy(charts, (chart) => chart.topic)
  const titles = new Map(topics.map(({ id, title }) => [id, title]))
  const ids = new Set([...titles.keys(), ...tablesOf.keys(), ...chartsOf.keys()])
  return [...ids]
    .map((id) => ({
      id,
      title: titles.get(id) ?? sentence(id),
      tables: tablesOf.get(id) ?? [],
      charts: chartsOf.get(id)?.length ?? 0,
    }))
    .filter((topic) => topic.tables.length + topic.charts > 0)
}

const sentence = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ')
