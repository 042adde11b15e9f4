interface MenuText {
  /** What the page shows, for the list of all pages. Table pages use the text of their definition. */
  doc?: string
  /** Further search terms for the palette. */
  searchTerms?: string
}

/** Texts about the pages of the menu, by path. They are apart from the menu, because the first view does not need them. */
export const menuTexts: Readonly<Record<string, MenuText>> = {
  '/overview': { searchTerms: 'home start dashboard' },
  '/fleet': { doc: 'All hosts with their load, outliers and versions.', searchTerms: 'hosts outliers drift versions' },
  '/compare': { doc: 'Key metrics of several hosts in one table.', searchTerms: 'comparison' },
  '/settings-diff': {
    doc: 'Settings that differ between hosts.',
    searchTerms: 'compare differences drift configuration',
  },
  '/schema-diff': {
    doc: 'Tables that differ between hosts, groups or times, with statements to review.',
    searchTerms: 'compare differences drift ddl alter migration tables columns',
  },
  '/topics/system': { doc: 'CPU, memory, disks, settings and errors of the host.' },
  '/topics/logs': { doc: 'Server log, errors, crashes and stack traces.' },
  '/topics/security': { doc: 'Sessions, logins, users, roles and grants.' },
  '/health': {
    doc: 'Firing and pending conditions, checks and history.',
    searchTerms: 'alerts conditions firing acknowledge',
  },
  '/alerts/rules': {
    doc: 'Thresholds of the rules, per host and group, and custom rules.',
    searchTerms: 'thresholds hysteresis checks alerts digest',
  },
  '/alerts/channels': {
    doc: 'Where alerts are sent, with a test for each channel.',
    searchTerms: 'alerts notify webhook mail test',
  },
  '/alerts/schedule': {
    doc: 'Quiet hours, maintenance windows and notification routes.',
    searchTerms: 'maintenance mute timings silences routes notification policies',
  },
  '/alerts/events': { doc: 'Events received from other systems.', searchTerms: 'ingest webhooks received' },
  '/alerts/deliveries': { doc: 'Sent and failed notifications, with replay.', searchTerms: 'dead letters replay sent' },
  '/alerts/webhooks': { doc: 'Signed webhooks that users subscribe to alerts.', searchTerms: 'subscribe signed' },
  '/fingerprints': {
    doc: 'Queries grouped by fingerprint, with latency and regressions.',
    searchTerms: 'fingerprints query patterns slow normalized regressions',
  },
  '/live-tail': {
    doc: 'New rows of the query log and of the server log as they are written.',
    searchTerms: 'follow stream logs query log text log server log tail -f realtime',
  },
  '/console': { doc: 'Run read-only statements.', searchTerms: 'run select editor' },
  '/explain': {
    doc: 'The plan, the pipeline and the syntax tree of a statement.',
    searchTerms: 'plan pipeline ast estimate',
  },
  '/explorer': {
    doc: 'Databases, tables, columns, DDL and dependencies.',
    searchTerms: 'databases tables columns ddl schema dependencies',
  },
  '/parts': {
    doc: 'Disk usage by table and partition, and their parts.',
    searchTerms: 'partitions treemap sizes disk detached',
  },
  '/topics/merges': { doc: 'Running and recent merges, and new parts.' },
  '/ingestion': {
    doc: 'Inserted rows, asynchronous inserts and message brokers.',
    searchTerms: 'inserts asynchronous kafka rows written',
  },
  '/storage': {
    doc: 'Disks, growth by table, and when they are full.',
    searchTerms: 'disks volumes growth full free space',
  },
  '/backups': { doc: 'Backups with duration, size and failures.', searchTerms: 'restore recovery failed backup' },
  '/postgres': {
    doc: 'Sessions, locks, statements and replication of the PostgreSQL server.',
    searchTerms: 'locks sessions statements vacuum slots',
  },
  '/topics/keeper': { doc: 'State, requests, connections and nodes of ClickHouse Keeper.' },
  '/topology': {
    doc: 'Shards and replicas of each cluster, with their health.',
    searchTerms: 'shards replicas clusters',
  },
  '/repldb': { doc: 'Mirrors, peers and slots of the replication service.', searchTerms: 'mirrors peers slots lag' },
  '/changes': {
    doc: 'Schema, settings, versions, deployments, alerts and actions in one list.',
    searchTerms: 'timeline history what changed deployments ddl schema audit',
  },
  '/insights': {
    doc: 'Findings and forecasts, each with its evidence.',
    searchTerms: 'findings anomalies forecasts evidence',
  },
  '/reports': { doc: 'Weekly health reports, and reports for any period.', searchTerms: 'weekly report score' },
  '/agents': {
    doc: 'Answers to questions about a host, with evidence.',
    searchTerms: 'question chat assistant model ai',
  },
  '/setup': {
    doc: 'What is connected and configured, and what is missing.',
    searchTerms: 'checklist first steps install configure onboarding',
  },
  '/hosts': { doc: 'Hosts and connections.', searchTerms: 'connections add servers' },
  '/api-keys': { doc: 'Keys of programs, with scopes.', searchTerms: 'tokens secrets scopes revoke programs' },
  '/management': { doc: 'Users, roles and grants of the host.', searchTerms: 'roles access' },
  '/audit': { doc: 'Actions with actor and result.', searchTerms: 'who did what records' },
  '/mcp': {
    doc: 'Set up clients, and call tools.',
    searchTerms: 'tool server model context protocol claude cursor tools',
  },
  '/agents/settings': {
    doc: 'The gateway, the key and the model of the agent.',
    searchTerms: 'agent settings llm key model openrouter',
  },
  '/docs': { doc: 'The documentation, the API and all settings.', searchTerms: 'help manual guide api settings' },
  '/about': {
    doc: 'Version, features and configuration of this installation.',
    searchTerms: 'version edition build commit licence billing features limits',
  },
  '/dashboards': {
    doc: 'Your own dashboards, and starter dashboards for common jobs.',
    searchTerms: 'panels boards grafana export import',
  },
}
