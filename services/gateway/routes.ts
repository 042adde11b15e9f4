import type { Route } from './http-route.ts'
import { issueKey, listKeys, revokeKey } from './routes/api-keys.ts'
import { authCli, authDocumentRoutes } from './routes/auth-documents.ts'
import { me, signIn, signInCallback, signInWithKey, signOut } from './routes/auth-session.ts'
import { actions } from './routes/actions.ts'
import { advice, structureAdviceRoutes } from './routes/advice.ts'
import { agentRoutes } from './routes/agent.ts'
import { decideApproval, decideEgress } from './routes/agent-approvals.ts'
import { agentModelRoutes } from './routes/agent-models.ts'
import { agentSkillRoutes } from './routes/agent-skills.ts'
import { audit } from './routes/audit.ts'
import { management, managementState } from './routes/management.ts'
import { billing, version } from './routes/installation.ts'
import {
  connectionSession,
  connectionTest,
  addUserConnection,
  changeUserConnection,
  removeUserConnection,
  userConnections,
} from './routes/connections.ts'
import { catalogue } from './routes/catalogue.ts'
import { chatApplicationRoutes } from './routes/chat-application.ts'
import { chatWebhook } from './routes/chat-webhook.ts'
import { chart, chartBatch } from './routes/charts.ts'
import { clusterTopology } from './routes/cluster.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { compare, settingsDiff } from './routes/comparison.ts'
import { config } from './routes/config.ts'
import { healthSweep, retentionPrune, weeklyReport } from './routes/cron.ts'
import { deployments, events, ingestEvents } from './routes/ingest.ts'
import { deviceLoginRoutes } from './routes/device-login.ts'
import { docRoutes, openApi } from './routes/docs.ts'
import { fleet } from './routes/fleet.ts'
import { cancelQuery, runQuery } from './routes/console.ts'
import { explorerRoutes } from './routes/explorer.ts'
import { filterOptions, table, tableList } from './routes/tables.ts'
import {
  explain,
  explainLong,
  queryDetail,
  queryExecutions,
  queryPattern,
  queryPatterns,
} from './routes/query-analysis.ts'
import { health, healthz } from './routes/health.ts'
import { healthChannelRoutes, healthPagingServices, healthWebhookTargetRoutes } from './routes/health-channels.ts'
import { healthCustomRuleRoutes, healthPolicyRoutes } from './routes/health-policies.ts'
import { healthDeadLetterRoutes, healthDeliveryRoutes } from './routes/health-deliveries.ts'
import { healthSettingsRoutes } from './routes/health-settings.ts'
import { healthInboundRoutes } from './routes/health-inbound.ts'
import { healthSilenceRoutes } from './routes/health-silences.ts'
import { healthStateRoutes } from './routes/health-state.ts'
import { hostStatus, hosts, overview, ownCost } from './routes/hosts.ts'
import { identityWebhook } from './routes/identity-webhook.ts'
import { insightRoutes } from './routes/insights.ts'
import { mcpRoutes, mcpInfo, serverCard } from './routes/mcp.ts'
import { metrics } from './routes/metrics.ts'
import { postgresRoutes } from './routes/postgres.ts'
import { pageView } from './routes/page-views.ts'
import { repositoryWebhook } from './routes/repository-webhook.ts'
import { reportRoutes } from './routes/reports.ts'
import { repldbRoutes } from './routes/repldb.ts'
import { webhookSubscriptionRoutes } from './routes/webhook-subscriptions.ts'

/** Every route of the product; each states its method, path, feature, access, limit, parameters and answer. */
export const routes: readonly Route[] = [
  health,
  actions,
  management,
  managementState,
  audit,
  openApi,
  healthz,
  version,
  billing,
  config,
  ...docRoutes,
  hosts,
  hostStatus,
  overview,
  catalogue,
  chartBatch,
  chart,
  tableList,
  table,
  filterOptions,
  ...insightRoutes,
  ...conversationRoutes,
  ...reportRoutes,
  ...structureAdviceRoutes,
  queryPatterns,
  queryPattern,
  queryExecutions,
  queryDetail,
  explain,
  explainLong,
  advice,
  runQuery,
  cancelQuery,
  ...explorerRoutes,
  ...repldbRoutes,
  metrics,
  fleet,
  ownCost,
  ...postgresRoutes,
  clusterTopology,
  settingsDiff,
  compare,
  connectionTest,
  connectionSession,
  userConnections,
  addUserConnection,
  changeUserConnection,
  removeUserConnection,
  authCli,
  issueKey,
  listKeys,
  revokeKey,
  ...deviceLoginRoutes,
  ...authDocumentRoutes,
  me,
  signInWithKey,
  signOut,
  signIn,
  signInCallback,
  ...healthStateRoutes,
  ...healthSilenceRoutes,
  ...healthInboundRoutes,
  ...healthSettingsRoutes,
  ...healthCustomRuleRoutes,
  ...healthDeadLetterRoutes,
  ...healthDeliveryRoutes,
  ...healthChannelRoutes,
  healthPagingServices,
  ...healthWebhookTargetRoutes,
  ...healthPolicyRoutes,
  ...webhookSubscriptionRoutes,
  ...chatApplicationRoutes,
  healthSweep,
  retentionPrune,
  weeklyReport,
  ingestEvents,
  chatWebhook,
  repositoryWebhook,
  identityWebhook,
  deployments,
  pageView,
  events,
  ...mcpRoutes,
  mcpInfo,
  serverCard,
  ...agentRoutes,
  ...agentModelRoutes,
  ...agentSkillRoutes,
  decideApproval,
  decideEgress,
]
