import type { Feature } from '#proto/call.ts'
import type { InstallationCapabilities } from '#proto/http/config.ts'

/** A page in the menu and in the command palette. */
export interface MenuPage {
  path: string
  title: string
  /** A shorter title for the menu, where the group says the rest. */
  label?: string
  /** The entry is hidden if this feature is disabled. */
  feature?: Feature
  /** The entry is hidden if the installation lacks this capability. */
  offer?: keyof InstallationCapabilities
  /** Whether the entry is hidden from users without write access. */
  isForWriting?: boolean
}

export type MenuGroupId =
  | 'overview'
  | 'fleet'
  | 'alerts'
  | 'queries'
  | 'data'
  | 'replication'
  | 'changes'
  | 'dashboards'
  | 'insights'
  | 'agent'
  | 'settings'

/** The pages of one job. */
export interface MenuGroup {
  id: MenuGroupId
  title: string
  /** The page that the title opens. Without one, the title opens the list of all pages of the group. */
  page?: MenuPage
  pages: readonly MenuPage[]
  /** Topics of the catalogue that belong to the group. */
  topics: readonly string[]
  /** First segments of paths whose pages belong to the group without being in the menu. */
  paths?: readonly string[]
}

/** The menu: groups by job, each with its most used pages. All other pages are listed by `/browse`. */
export const menuGroups: readonly MenuGroup[] = [
  {
    id: 'overview',
    title: 'Overview',
    page: { path: '/overview', title: 'Overview', feature: 'OVERVIEW' },
    pages: [],
    topics: ['overview'],
  },
  {
    id: 'fleet',
    title: 'Fleet',
    page: {
      path: '/fleet',
      title: 'Fleet',
      feature: 'OVERVIEW',
    },
    pages: [
      {
        path: '/compare',
        title: 'Compare hosts',
        feature: 'QUERIES',
      },
      {
        path: '/settings-diff',
        title: 'Settings diff',
        feature: 'SETTINGS',
      },
      {
        path: '/schema-diff',
        title: 'Schema diff',
        feature: 'TABLES',
      },
      { path: '/topics/system', title: 'System' },
      { path: '/topics/logs', title: 'Logs' },
      { path: '/topics/security', title: 'Security' },
    ],
    topics: ['system', 'logs', 'security', 'page-views'],
  },
  {
    id: 'alerts',
    title: 'Alerts',
    page: {
      path: '/health',
      title: 'Health',
      feature: 'HEALTH',
    },
    pages: [
      {
        path: '/alerts/rules',
        title: 'Alert rules',
        label: 'Rules',
        feature: 'HEALTH',
      },
      {
        path: '/alerts/channels',
        title: 'Notification channels',
        label: 'Channels',
        feature: 'HEALTH',
      },
      {
        path: '/alerts/schedule',
        title: 'Quiet hours and routes',
        label: 'Quiet hours',
        feature: 'HEALTH',
      },
      {
        path: '/alerts/events',
        title: 'Inbound events',
        feature: 'HEALTH',
      },
      {
        path: '/alerts/deliveries',
        title: 'Deliveries',
        feature: 'HEALTH',
      },
      {
        path: '/alerts/webhooks',
        title: 'Webhook subscriptions',
        label: 'Webhooks',
        feature: 'HEALTH',
        offer: 'subscriptions',
      },
    ],
    topics: ['health'],
  },
  {
    id: 'queries',
    title: 'Queries',
    pages: [
      { path: '/tables/running-queries', title: 'Running queries', label: 'Running' },
      { path: '/tables/slow-queries', title: 'Slow queries', label: 'Slow' },
      { path: '/tables/failed-queries', title: 'Failed queries', label: 'Failed' },
      {
        path: '/fingerprints',
        title: 'Query insights',
        label: 'Fingerprints',
        feature: 'QUERIES',
      },
      {
        path: '/live-tail',
        title: 'Live tail',
        feature: 'QUERIES',
      },
      {
        path: '/console',
        title: 'SQL console',
        label: 'Console',
        feature: 'QUERIES',
      },
      {
        path: '/explain',
        title: 'Explain',
        feature: 'QUERIES',
      },
    ],
    topics: ['queries', 'query-insights'],
    paths: ['/queries'],
  },
  {
    id: 'data',
    title: 'Data',
    pages: [
      {
        path: '/explorer',
        title: 'Explorer',
        feature: 'TABLES',
      },
      {
        path: '/parts',
        title: 'Parts',
        feature: 'TABLES',
      },
      { path: '/topics/merges', title: 'Merges' },
      { path: '/tables/mutations', title: 'Mutations' },
      {
        path: '/ingestion',
        title: 'Ingestion',
        feature: 'METRICS',
      },
      {
        path: '/storage',
        title: 'Storage and forecast',
        label: 'Storage',
        feature: 'METRICS',
      },
      {
        path: '/backups',
        title: 'Backups',
        feature: 'OPERATIONS',
      },
      {
        path: '/postgres',
        title: 'PostgreSQL',
        offer: 'postgresSource',
      },
    ],
    topics: ['tables', 'merges', 'explorer', 'storage', 'ingestion', 'traffic'],
  },
  {
    id: 'replication',
    title: 'Replication',
    pages: [
      { path: '/tables/replicas', title: 'Replicas' },
      { path: '/topics/keeper', title: 'Keeper' },
      {
        path: '/topology',
        title: 'Cluster topology',
        label: 'Topology',
        feature: 'CLUSTER',
      },
      { path: '/tables/distributed-ddl-queue', title: 'Distributed DDL queue', label: 'Distributed DDL' },
      {
        path: '/repldb',
        title: 'Replication service',
        feature: 'REPLDB',
        offer: 'replicationService',
      },
    ],
    topics: ['replication', 'keeper', 'replication-service'],
  },
  {
    id: 'changes',
    title: 'Changes',
    page: {
      path: '/changes',
      title: 'Changes',
      feature: 'METRICS',
    },
    pages: [],
    topics: [],
  },
  {
    id: 'dashboards',
    title: 'Dashboards',
    page: {
      path: '/dashboards',
      title: 'Dashboards',
      feature: 'DASHBOARD',
    },
    pages: [],
    topics: [],
  },
  {
    id: 'insights',
    title: 'Insights',
    page: {
      path: '/insights',
      title: 'Insights',
      feature: 'INSIGHTS',
    },
    pages: [
      {
        path: '/reports',
        title: 'Reports',
        feature: 'INSIGHTS',
      },
    ],
    topics: ['insights'],
  },
  {
    id: 'agent',
    title: 'Agent',
    page: {
      path: '/agents',
      title: 'Agent',
      feature: 'AGENT',
    },
    pages: [],
    topics: [],
  },
  {
    id: 'settings',
    title: 'Settings',
    pages: [
      {
        path: '/setup',
        title: 'Set up',
      },
      { path: '/hosts', title: 'Hosts' },
      {
        path: '/api-keys',
        title: 'API keys',
      },
      {
        path: '/management',
        title: 'Users and grants',
        feature: 'SECURITY',
        offer: 'management',
      },
      {
        path: '/audit',
        title: 'Audit log',
        feature: 'ACTIONS',
        isForWriting: true,
      },
      {
        path: '/mcp',
        title: 'MCP server',
        feature: 'MCP',
      },
      {
        path: '/agents/settings',
        title: 'Model gateway',
        feature: 'AGENT',
      },
      {
        path: '/docs',
        title: 'Documentation',
        feature: 'DOCS',
      },
      {
        path: '/about',
        title: 'About',
        feature: 'ABOUT',
      },
    ],
    topics: [],
  },
]
