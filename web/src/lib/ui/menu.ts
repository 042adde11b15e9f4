import type { Feature } from '#proto/call.ts'
import type { InstallationCapabilities } from '#proto/http/config.ts'
import type { Catalogue, TableInfo } from '#proto/catalogue.ts'

/** A page in the menu and in the command palette. */
export interface MenuPage {
  path: string
  title: string
  /** The entry is hidden if this feature is disabled. */
  feature?: Feature
  /** The entry is hidden if the installation lacks this capability. */
  offer?: keyof InstallationCapabilities
  /** Whether the entry is hidden from users without write access. */
  isForWriting?: boolean
  /** Further search terms for the palette. */
  searchTerms?: string
}

/** A titled group of pages; the one without a title comes first. */
export interface MenuSection {
  title: string | null
  pages: readonly MenuPage[]
}

/** All pages except the topics of the catalogue, in menu order. */
export const menuSections: readonly MenuSection[] = [
  {
    title: null,
    pages: [
      { path: '/overview', title: 'Overview', feature: 'OVERVIEW', searchTerms: 'home start dashboard' },
      { path: '/fleet', title: 'Fleet', feature: 'OVERVIEW', searchTerms: 'hosts outliers drift versions' },
      { path: '/dashboards', title: 'Dashboards', feature: 'DASHBOARD', searchTerms: 'panels slo own charts grafana' },
      { path: '/hosts', title: 'Hosts', searchTerms: 'connections add servers' },
      { path: '/health', title: 'Health', feature: 'HEALTH', searchTerms: 'alerts conditions firing' },
    ],
  },
  {
    title: 'Alerts and insights',
    pages: [
      {
        path: '/insights',
        title: 'Insights',
        feature: 'INSIGHTS',
        searchTerms: 'findings anomalies forecasts evidence',
      },
      { path: '/reports', title: 'Reports', feature: 'INSIGHTS', searchTerms: 'weekly report score' },
      {
        path: '/alerts/rules',
        title: 'Alert rules',
        feature: 'HEALTH',
        searchTerms: 'thresholds hysteresis checks alerts digest',
      },
      {
        path: '/alerts/channels',
        title: 'Notification channels',
        feature: 'HEALTH',
        searchTerms: 'alerts notify webhook mail test',
      },
      {
        path: '/alerts/schedule',
        title: 'Quiet hours and routes',
        feature: 'HEALTH',
        searchTerms: 'maintenance mute timings silences routes notification policies',
      },
      { path: '/alerts/events', title: 'Inbound events', feature: 'HEALTH', searchTerms: 'ingest webhooks received' },
      { path: '/alerts/deliveries', title: 'Deliveries', feature: 'HEALTH', searchTerms: 'dead letters replay sent' },
      {
        path: '/alerts/webhooks',
        title: 'Webhook subscriptions',
        feature: 'HEALTH',
        offer: 'subscriptions',
        searchTerms: 'subscribe signed',
      },
    ],
  },
  {
    title: 'Queries and data',
    pages: [
      {
        path: '/fingerprints',
        title: 'Query insights',
        feature: 'QUERIES',
        searchTerms: 'fingerprints query patterns slow normalized regressions',
      },
      {
        path: '/live-tail',
        title: 'Live tail',
        feature: 'QUERIES',
        searchTerms: 'follow stream logs query log text log server log tail -f realtime',
      },
      { path: '/console', title: 'SQL console', feature: 'QUERIES', searchTerms: 'run select editor' },
      { path: '/explain', title: 'Explain', feature: 'QUERIES', searchTerms: 'plan pipeline ast estimate' },
      {
        path: '/explorer',
        title: 'Explorer',
        feature: 'TABLES',
        searchTerms: 'databases tables columns ddl schema dependencies',
      },
      {
        path: '/storage',
        title: 'Storage and forecast',
        feature: 'METRICS',
        searchTerms: 'disks volumes growth full free space',
      },
      { path: '/parts', title: 'Parts', feature: 'TABLES', searchTerms: 'partitions treemap sizes disk detached' },
      {
        path: '/ingestion',
        title: 'Ingestion',
        feature: 'METRICS',
        searchTerms: 'inserts asynchronous kafka rows written',
      },
      { path: '/backups', title: 'Backups', feature: 'OPERATIONS', searchTerms: 'restore recovery failed backup' },
      { path: '/topology', title: 'Cluster topology', feature: 'CLUSTER', searchTerms: 'shards replicas clusters' },
      {
        path: '/settings-diff',
        title: 'Settings diff',
        feature: 'SETTINGS',
        searchTerms: 'compare differences drift configuration',
      },
      { path: '/compare', title: 'Compare hosts', feature: 'QUERIES', searchTerms: 'comparison' },
    ],
  },
  {
    title: 'Other databases',
    pages: [
      {
        path: '/repldb',
        title: 'Replication',
        feature: 'REPLDB',
        offer: 'replicationService',
        searchTerms: 'mirrors peers slots lag',
      },
      {
        path: '/postgres',
        title: 'PostgreSQL',
        offer: 'postgresSource',
        searchTerms: 'locks sessions statements vacuum slots',
      },
    ],
  },
  {
    title: 'Agent and tools',
    pages: [
      { path: '/agents', title: 'Agent', feature: 'AGENT', searchTerms: 'question chat assistant model ai' },
      {
        path: '/mcp',
        title: 'MCP server',
        feature: 'MCP',
        searchTerms: 'tool server model context protocol claude cursor tools',
      },
    ],
  },
  {
    title: 'Administration',
    pages: [
      { path: '/setup', title: 'Set up', searchTerms: 'checklist first steps install configure onboarding' },
      { path: '/api-keys', title: 'API keys', searchTerms: 'tokens secrets scopes revoke programs' },
      {
        path: '/management',
        title: 'Users and grants',
        feature: 'SECURITY',
        offer: 'management',
        searchTerms: 'roles access',
      },
      {
        path: '/audit',
        title: 'Audit log',
        feature: 'ACTIONS',
        isForWriting: true,
        searchTerms: 'who did what records',
      },
      { path: '/docs', title: 'Documentation', feature: 'DOCS', searchTerms: 'help manual guide api settings' },
      {
        path: '/about',
        title: 'About',
        feature: 'ABOUT',
        searchTerms: 'version edition build commit licence billing features limits',
      },
    ],
  },
]

/** The capabilities of the installation and the permissions of the user. */
interface MenuContext {
  isOffered: (feature: Feature) => boolean
  offers: InstallationCapabilities | undefined
  mayWrite: boolean | undefined
}

/** Returns the sections with the pages that are available to the user. */
export const filterMenuSections = (offering: MenuContext): MenuSection[] =>
  menuSections
    .map(({ title, pages }) => ({ title, pages: pages.filter((page) => isPageAvailable(offering, page)) }))
    .filter(({ pages }) => pages.length > 0)

const isPageAvailable = (
  { isOffered, offers, mayWrite }: MenuContext,
  { feature, offer, isForWriting }: MenuPage,
): boolean =>
  (!feature || isOffered(feature)) && (!offer || offers?.[offer] === true) && (!isForWriting || mayWrite !== false)

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
