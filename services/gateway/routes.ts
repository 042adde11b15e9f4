import type { Route } from './route.ts'
import { issueKey, listKeys, revokeKey } from './routes/api-keys.ts'
import { authCli } from './routes/auth-cli.ts'
import { authDocumentRoutes } from './routes/auth-documents.ts'
import { me, signIn, signInCallback, signInWithKey, signOut } from './routes/auth-session.ts'
import { actions } from './routes/actions.ts'
import { advice } from './routes/advice.ts'
import { agentRoutes } from './routes/agent.ts'
import { decideApproval } from './routes/agent-approvals.ts'
import { decideEgress } from './routes/agent-egress.ts'
import { agentModelRoutes } from './routes/agent-models.ts'
import { agentSkillRoutes } from './routes/agent-skills.ts'
import { audit } from './routes/audit.ts'
import { management, managementState } from './routes/management.ts'
import { billing } from './routes/billing.ts'
import { connectionSession, connectionTest } from './routes/browser-connections.ts'
import { catalogue } from './routes/catalogue.ts'
import { chatApplicationRoutes } from './routes/chat-application.ts'
import { chatWebhook } from './routes/chat-webhook.ts'
import { chart, chartBatch } from './routes/charts.ts'
import { clusterTopology } from './routes/cluster.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { compare, settingsDiff } from './routes/comparison.ts'
import { config } from './routes/config.ts'
import { healthSweep, retentionPrune, weeklyReport } from './routes/cron.ts'
import { deployments } from './routes/deployments.ts'
import { deviceLoginRoutes } from './routes/device-login.ts'
import { docRoutes } from './routes/docs.ts'
import { fleet } from './routes/fleet.ts'
import { cancelQuery, runQuery } from './routes/console.ts'
import { explorerRoutes } from './routes/explorer.ts'
import { filterOptions } from './routes/filter-options.ts'
import { events } from './routes/events.ts'
import { explain, explainLong } from './routes/explain.ts'
import { health } from './routes/health.ts'
import { healthChannelRoutes } from './routes/health-channels.ts'
import { healthPagingServices } from './routes/health-paging-services.ts'
import { healthCustomRuleRoutes } from './routes/health-custom-rules.ts'
import { healthDeadLetterRoutes } from './routes/health-dead-letters.ts'
import { healthDeliveryRoutes } from './routes/health-deliveries.ts'
import { healthSettingsRoutes } from './routes/health-settings.ts'
import { healthInboundRoutes } from './routes/health-inbound.ts'
import { healthSettledRoutes } from './routes/health-settled.ts'
import { healthSilenceRoutes } from './routes/health-silences.ts'
import { healthStateRoutes } from './routes/health-state.ts'
import { healthWebhookTargetRoutes } from './routes/health-webhook-targets.ts'
import { healthz } from './routes/healthz.ts'
import { hostStatus } from './routes/host-status.ts'
import { hosts } from './routes/hosts.ts'
import { ingestEvents } from './routes/ingest.ts'
import { identityWebhook } from './routes/identity-webhook.ts'
import { insightRoutes } from './routes/insights.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { mcpInfo, serverCard } from './routes/mcp-info.ts'
import { metrics } from './routes/metrics.ts'
import { openApi } from './routes/openapi.ts'
import { overview } from './routes/overview.ts'
import { ownCost } from './routes/own-cost.ts'
import { postgresRoutes } from './routes/postgres.ts'
import { structureAdviceRoutes } from './routes/structure-advice.ts'
import { pageView } from './routes/page-views.ts'
import { repositoryWebhook } from './routes/repository-webhook.ts'
import { reportRoutes } from './routes/reports.ts'
import { repldbRoutes } from './routes/repldb.ts'
import { queryDetail, queryExecutions, queryPattern, queryPatterns } from './routes/query-analysis.ts'
import { table, tableList } from './routes/tables.ts'
import {
  addUserConnection,
  changeUserConnection,
  removeUserConnection,
  userConnections,
} from './routes/user-connections.ts'
import { version } from './routes/version.ts'
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
  ...healthSettledRoutes,
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
