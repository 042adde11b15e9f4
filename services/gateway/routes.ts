import type { Route } from './http-route.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { authCli, authDocumentRoutes } from './routes/auth-documents.ts'
import { sessionRoutes } from './routes/auth-session.ts'
import { actions, managementRoutes } from './routes/actions.ts'
import { advice, structureAdviceRoutes, insightRoutes } from './routes/insights.ts'
import { agentRoutes, agentApprovalRoutes } from './routes/agent.ts'
import { agentModelRoutes, agentSkillRoutes } from './routes/agent-models.ts'
import { audit } from './routes/audit.ts'
import { installationRoutes, config } from './routes/config.ts'
import { connectionRoutes } from './routes/connections.ts'
import { catalogue, hostRoutes } from './routes/hosts.ts'
import { chatApplicationRoutes, chatWebhook } from './routes/chat-application.ts'
import { chartRoutes } from './routes/charts.ts'
import { clusterTopology, fleetRoutes } from './routes/fleet.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { comparisonRoutes, queryAnalysisRoutes } from './routes/query-analysis.ts'
import { cronRoutes } from './routes/cron.ts'
import { deployments, events, ingestEvents } from './routes/ingest.ts'
import { deviceLoginRoutes } from './routes/device-login.ts'
import { docRoutes, openApi } from './routes/docs.ts'
import { consoleRoutes } from './routes/console.ts'
import { explorerRoutes } from './routes/explorer.ts'
import { tableRoutes } from './routes/tables.ts'
import { health, healthz, metrics } from './routes/health.ts'
import { healthChannelRoutes, healthPagingServices, healthWebhookTargetRoutes } from './routes/health-channels.ts'
import { healthCustomRuleRoutes, healthPolicyRoutes } from './routes/health-policies.ts'
import { healthDeadLetterRoutes, healthDeliveryRoutes } from './routes/health-deliveries.ts'
import { healthSettingsRoutes } from './routes/health-settings.ts'
import { healthInboundRoutes } from './routes/health-inbound.ts'
import { healthSilenceRoutes } from './routes/health-silences.ts'
import { healthStateRoutes } from './routes/health-state.ts'
import { identityWebhook } from './routes/identity-webhook.ts'
import { mcpRoutes, mcpInfo, serverCard } from './routes/mcp.ts'
import { postgresRoutes } from './routes/postgres.ts'
import { pageView } from './routes/page-views.ts'
import { repositoryWebhook } from './routes/repository-webhook.ts'
import { reportRoutes } from './routes/reports.ts'
import { repldbRoutes } from './routes/repldb.ts'
import { webhookSubscriptionRoutes } from './routes/webhook-subscriptions.ts'

/** All routes of the product, with method, path, feature, access, limit, parameters and response. */
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
