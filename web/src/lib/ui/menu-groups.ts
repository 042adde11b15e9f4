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
  /** What the page shows, for the list of all pages. Pages of the catalogue use the text of their definition. */
  doc?: string
  /** Further search terms for the palette. */
  searchTerms?: string
}

export type MenuGroupId =
  | 'overview'
  | 'fleet'
  | 'alerts'
  | 'queries'
  | 'data'
  | 'replication'
  | 'changes'
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
    page: { path: '/overview', title: 'Overview', feature: 'OVERVIEW', searchTerms: 'home start dashboard' },
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
      doc: 'All hosts with their load, outliers and versions.',
      searchTerms: 'hosts outliers drift versions',
    },
    pages: [
      {
        path: '/compare',
        title: 'Compare hosts',
        feature: 'QUERIES',
        doc: 'Key metrics of several hosts in one table.',
        searchTerms: 'comparison',
      },
      {
        path: '/settings-diff',
        title: 'Settings diff',
        feature: 'SETTINGS',
        doc: 'Settings that differ between hosts.',
        searchTerms: 'compare differences drift configuration',
      },
      { path: '/topics/system', title: 'System', doc: 'CPU, memory, disks, settings and errors of the host.' },
      { path: '/topics/logs', title: 'Logs', doc: 'Server log, errors, crashes and stack traces.' },
      { path: '/topics/security', title: 'Security', doc: 'Sessions, logins, users, roles and grants.' },
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
      doc: 'Firing and pending conditions, checks and history.',
      searchTerms: 'alerts conditions firing acknowledge',
    },
    pages: [
      {
        path: '/alerts/rules',
        title: 'Alert rules',
        label: 'Rules',
        feature: 'HEALTH',
        doc: 'Thresholds of the rules, per host and group, and custom rules.',
        searchTerms: 'thresholds hysteresis checks alerts digest',
      },
      {
        path: '/alerts/channels',
        title: 'Notification channels',
        label: 'Channels',
        feature: 'HEALTH',
        doc: 'Where alerts are sent, with a test for each channel.',
        searchTerms: 'alerts notify webhook mail test',
      },
      {
        path: '/alerts/schedule',
        title: 'Quiet hours and routes',
        label: 'Quiet hours',
        feature: 'HEALTH',
        doc: 'Quiet hours, maintenance windows and notification routes.',
        searchTerms: 'maintenance mute timings silences routes notification policies',
      },
      {
        path: '/alerts/events',
        title: 'Inbound events',
        feature: 'HEALTH',
        doc: 'Events received from other systems.',
        searchTerms: 'ingest webhooks received',
      },
      {
        path: '/alerts/deliveries',
        title: 'Deliveries',
        feature: 'HEALTH',
        doc: 'Sent and failed notifications, with replay.',
        searchTerms: 'dead letters replay sent',
      },
      {
        path: '/alerts/webhooks',
        title: 'Webhook subscriptions',
        label: 'Webhooks',
        feature: 'HEALTH',
        offer: 'subscriptions',
        doc: 'Signed webhooks that users subscribe to alerts.',
        searchTerms: 'subscribe signed',
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
        doc: 'Queries grouped by fingerprint, with latency and regressions.',
        searchTerms: 'fingerprints query patterns slow normalized regressions',
      },
      {
        path: '/console',
        title: 'SQL console',
        label: 'Console',
        feature: 'QUERIES',
        doc: 'Run read-only statements.',
        searchTerms: 'run select editor',
      },
      {
        path: '/explain',
        title: 'Explain',
        feature: 'QUERIES',
        doc: 'The plan, the pipeline and the syntax tree of a statement.',
        searchTerms: 'plan pipeline ast estimate',
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
        doc: 'Databases, tables, columns, DDL and dependencies.',
        searchTerms: 'databases tables columns ddl schema dependencies',
      },
      {
        path: '/parts',
        title: 'Parts',
        feature: 'TABLES',
        doc: 'Disk usage by table and partition, and their parts.',
        searchTerms: 'partitions treemap sizes disk detached',
      },
      { path: '/topics/merges', title: 'Merges', doc: 'Running and recent merges, and new parts.' },
      { path: '/tables/mutations', title: 'Mutations' },
      {
        path: '/ingestion',
        title: 'Ingestion',
        feature: 'METRICS',
        doc: 'Inserted rows, asynchronous inserts and message brokers.',
        searchTerms: 'inserts asynchronous kafka rows written',
      },
      {
        path: '/storage',
        title: 'Storage and forecast',
        label: 'Storage',
        feature: 'METRICS',
        doc: 'Disks, growth by table, and when they are full.',
        searchTerms: 'disks volumes growth full free space',
      },
      {
        path: '/backups',
        title: 'Backups',
        feature: 'OPERATIONS',
        doc: 'Backups with duration, size and failures.',
        searchTerms: 'restore recovery failed backup',
      },
      {
        path: '/postgres',
        title: 'PostgreSQL',
        offer: 'postgresSource',
        doc: 'Sessions, locks, statements and replication of the PostgreSQL server.',
        searchTerms: 'locks sessions statements vacuum slots',
      },
    ],
    topics: ['tables', 'merges', 'explorer', 'storage', 'ingestion', 'traffic'],
  },
  {
    id: 'replication',
    title: 'Replication',
    pages: [
      { path: '/tables/replicas', title: 'Replicas' },
      { path: '/topics/keeper', title: 'Keeper', doc: 'State, requests, connections and nodes of ClickHouse Keeper.' },
      {
        path: '/topology',
        title: 'Cluster topology',
        label: 'Topology',
        feature: 'CLUSTER',
        doc: 'Shards and replicas of each cluster, with their health.',
        searchTerms: 'shards replicas clusters',
      },
      { path: '/tables/distributed-ddl-queue', title: 'Distributed DDL queue', label: 'Distributed DDL' },
      {
        path: '/repldb',
        title: 'Replication service',
        feature: 'REPLDB',
        offer: 'replicationService',
        doc: 'Mirrors, peers and slots of the replication service.',
        searchTerms: 'mirrors peers slots lag',
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
      doc: 'Schema, settings, versions, deployments, alerts and actions in one list.',
      searchTerms: 'timeline history what changed deployments ddl schema audit',
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
      doc: 'Findings and forecasts, each with its evidence.',
      searchTerms: 'findings anomalies forecasts evidence',
    },
    pages: [
      {
        path: '/reports',
        title: 'Reports',
        feature: 'INSIGHTS',
        doc: 'Weekly health reports, and reports for any period.',
        searchTerms: 'weekly report score',
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
      doc: 'Answers to questions about a host, with evidence.',
      searchTerms: 'question chat assistant model ai',
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
        doc: 'What is connected and configured, and what is missing.',
        searchTerms: 'checklist first steps install configure onboarding',
      },
      { path: '/hosts', title: 'Hosts', doc: 'Hosts and connections.', searchTerms: 'connections add servers' },
      {
        path: '/api-keys',
        title: 'API keys',
        doc: 'Keys of programs, with scopes.',
        searchTerms: 'tokens secrets scopes revoke programs',
      },
      {
        path: '/management',
        title: 'Users and grants',
        feature: 'SECURITY',
        offer: 'management',
        doc: 'Users, roles and grants of the host.',
        searchTerms: 'roles access',
      },
      {
        path: '/audit',
        title: 'Audit log',
        feature: 'ACTIONS',
        isForWriting: true,
        doc: 'Actions with actor and result.',
        searchTerms: 'who did what records',
      },
      {
        path: '/mcp',
        title: 'MCP server',
        feature: 'MCP',
        doc: 'Set up clients, and call tools.',
        searchTerms: 'tool server model context protocol claude cursor tools',
      },
      {
        path: '/agents/settings',
        title: 'Model gateway',
        feature: 'AGENT',
        doc: 'The gateway, the key and the model of the agent.',
        searchTerms: 'agent settings llm key model openrouter',
      },
      {
        path: '/docs',
        title: 'Documentation',
        feature: 'DOCS',
        doc: 'The documentation, the API and all settings.',
        searchTerms: 'help manual guide api settings',
      },
      {
        path: '/about',
        title: 'About',
        feature: 'ABOUT',
        doc: 'Version, features and configuration of this installation.',
        searchTerms: 'version edition build commit licence billing features limits',
      },
    ],
    topics: [],
  },
]
