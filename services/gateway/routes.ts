import type { Route } from './http-route.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { authCli, authDocumentRoutes } from './routes/auth-documents.ts'
import { sessionRoutes } from './routes/auth-session.ts'
import { actions } from './routes/actions.ts'
import { advice, structureAdviceRoutes } from './routes/advice.ts'
import { agentRoutes } from './routes/agent.ts'
import { agentApprovalRoutes } from './routes/agent-approvals.ts'
import { agentModelRoutes } from './routes/agent-models.ts'
import { agentSkillRoutes } from './routes/agent-skills.ts'
import { audit } from './routes/audit.ts'
import { managementRoutes } from './routes/management.ts'
import { installationRoutes } from './routes/installation.ts'
import { connectionRoutes } from './routes/connections.ts'
import { catalogue } from './routes/catalogue.ts'
import { chatApplicationRoutes } from './routes/chat-application.ts'
import { chatWebhook } from './routes/chat-webhook.ts'
import { chartRoutes } from './routes/charts.ts'
import { clusterTopology } from './routes/cluster.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { comparisonRoutes } from './routes/comparison.ts'
import { config } from './routes/config.ts'
import { cronRoutes } from './routes/cron.ts'
import { deployments, events, ingestEvents } from './routes/ingest.ts'
import { deviceLoginRoutes } from './routes/device-login.ts'
import { docRoutes, openApi } from './routes/docs.ts'
import { fleetRoutes } from './routes/fleet.ts'
import { consoleRoutes } from './routes/console.ts'
import { explorerRoutes } from './routes/explorer.ts'
import { tableRoutes } from './routes/tables.ts'
import { queryAnalysisRoutes } from './routes/query-analysis.ts'
import { health, healthz } from './routes/health.ts'
import { healthChannelRoutes, healthPagingServices, healthWebhookTargetRoutes } from './routes/health-channels.ts'
import { healthCustomRuleRoutes, healthPolicyRoutes } from './routes/health-policies.ts'
import { healthDeadLetterRoutes, healthDeliveryRoutes } from './routes/health-deliveries.ts'
import { healthSettingsRoutes } from './routes/health-settings.ts'
import { healthInboundRoutes } from './routes/health-inbound.ts'
import { healthSilenceRoutes } from './routes/health-silences.ts'
import { healthStateRoutes } from './routes/health-state.ts'
import { hostRoutes } from './routes/hosts.ts'
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
  ...managementRoutes,
  audit,
  openApi,
  healthz,
  ...installationRoutes,
  config,
  ...docRoutes,
  ...hostRoutes,
  catalogue,
  ...chartRoutes,
  ...tableRoutes,
  ...insightRoutes,
  ...conversationRoutes,
  ...reportRoutes,
  ...structureAdviceRoutes,
  ...queryAnalysisRoutes,
  advice,
  ...consoleRoutes,
  ...explorerRoutes,
  ...repldbRoutes,
  metrics,
  ...fleetRoutes,
  ...postgresRoutes,
  clusterTopology,
  ...comparisonRoutes,
  ...connectionRoutes,
  authCli,
  ...apiKeyRoutes,
  ...deviceLoginRoutes,
  ...authDocumentRoutes,
  ...sessionRoutes,
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
  ...cronRoutes,
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
  ...agentApprovalRoutes,
]
