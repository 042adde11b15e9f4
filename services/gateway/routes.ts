import type { Route } from './http-route.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { authCliRoute, authDocumentRoutes } from './routes/auth-documents.ts'
import { sessionRoutes } from './routes/auth-session.ts'
import { actionsRoute, managementRoutes } from './routes/actions.ts'
import { adviceRoute, structureAdviceRoutes, insightRoutes } from './routes/insights.ts'
import { agentRoutes, agentApprovalRoutes } from './routes/agent.ts'
import { agentModelRoutes, agentSkillRoutes } from './routes/agent-models.ts'
import { agentSettingsRoutes } from './routes/agent-settings.ts'
import { auditRoute } from './routes/audit.ts'
import { installationRoutes, configRoute } from './routes/config.ts'
import { connectionRoutes } from './routes/connections.ts'
import { catalogueRoute, hostRoutes } from './routes/hosts.ts'
import { managedHostRoutes } from './routes/managed-hosts.ts'
import { chatApplicationRoutes, chatWebhookRoute } from './routes/chat-application.ts'
import { changeRoutes } from './routes/changes.ts'
import { chartRoutes } from './routes/charts.ts'
import { clusterTopologyRoute, fleetRoutes } from './routes/fleet.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { comparisonRoutes, queryAnalysisRoutes } from './routes/query-analysis.ts'
import { schemaDiffRoutes } from './routes/schema-diff.ts'
import { cronRoutes } from './routes/cron.ts'
import { deploymentsRoute, eventsRoute, ingestRoute } from './routes/ingest.ts'
import { dashboardRoutes } from './routes/dashboards.ts'
import { deviceLoginRoutes } from './routes/device-login.ts'
import { docRoutes, openApiRoute } from './routes/docs.ts'
import { consoleRoutes } from './routes/console.ts'
import { explorerRoutes } from './routes/explorer.ts'
import { tableRoutes } from './routes/tables.ts'
import { healthRoute, healthzRoute, metricsRoute } from './routes/health.ts'
import { healthChannelRoutes, healthPagingServicesRoute, healthWebhookTargetRoutes } from './routes/health-channels.ts'
import { healthCustomRuleRoutes, healthPolicyRoutes } from './routes/health-policies.ts'
import { healthDeadLetterRoutes, healthDeliveryRoutes } from './routes/health-deliveries.ts'
import { healthSettingsRoutes } from './routes/health-settings.ts'
import { healthInboundRoutes } from './routes/health-inbound.ts'
import { healthSilenceRoutes } from './routes/health-silences.ts'
import { healthStateRoutes } from './routes/health-state.ts'
import { historyRoutes } from './routes/history.ts'
import { incidentRoutes } from './routes/incidents.ts'
import { identityWebhookRoute } from './routes/identity-webhook.ts'
import { mcpRoutes, mcpInfoRoute, mcpPlaygroundRoute, serverCardRoute } from './routes/mcp.ts'
import { postgresRoutes } from './routes/postgres.ts'
import { pageViewRoute } from './routes/page-views.ts'
import { repositoryWebhookRoute } from './routes/repository-webhook.ts'
import { reportRoutes } from './routes/reports.ts'
import { repldbRoutes } from './routes/repldb.ts'
import { setupRoute } from './routes/setup.ts'
import { savedViewRoutes } from './routes/saved-views.ts'
import { webhookSubscriptionRoutes } from './routes/webhook-subscriptions.ts'

/** All routes of the product, with method, path, feature, access, limit, parameters and response. */
export const routes: readonly Route[] = [
  healthRoute,
  actionsRoute,
  ...managementRoutes,
  auditRoute,
  openApiRoute,
  healthzRoute,
  ...installationRoutes,
  configRoute,
  setupRoute,
  ...docRoutes,
  ...hostRoutes,
  ...managedHostRoutes,
  catalogueRoute,
  ...chartRoutes,
  ...historyRoutes,
  ...changeRoutes,
  ...tableRoutes,
  ...dashboardRoutes,
  ...savedViewRoutes,
  ...insightRoutes,
  ...conversationRoutes,
  ...reportRoutes,
  ...structureAdviceRoutes,
  ...queryAnalysisRoutes,
  adviceRoute,
  ...consoleRoutes,
  ...explorerRoutes,
  ...repldbRoutes,
  metricsRoute,
  ...fleetRoutes,
  ...postgresRoutes,
  clusterTopologyRoute,
  ...comparisonRoutes,
  ...schemaDiffRoutes,
  ...connectionRoutes,
  authCliRoute,
  ...apiKeyRoutes,
  ...deviceLoginRoutes,
  ...authDocumentRoutes,
  ...sessionRoutes,
  ...healthStateRoutes,
  ...incidentRoutes,
  ...healthSilenceRoutes,
  ...healthInboundRoutes,
  ...healthSettingsRoutes,
  ...healthCustomRuleRoutes,
  ...healthDeadLetterRoutes,
  ...healthDeliveryRoutes,
  ...healthChannelRoutes,
  healthPagingServicesRoute,
  ...healthWebhookTargetRoutes,
  ...healthPolicyRoutes,
  ...webhookSubscriptionRoutes,
  ...chatApplicationRoutes,
  ...cronRoutes,
  ingestRoute,
  chatWebhookRoute,
  repositoryWebhookRoute,
  identityWebhookRoute,
  deploymentsRoute,
  pageViewRoute,
  eventsRoute,
  ...mcpRoutes,
  mcpInfoRoute,
  mcpPlaygroundRoute,
  serverCardRoute,
  ...agentRoutes,
  ...agentModelRoutes,
  ...agentSettingsRoutes,
  ...agentSkillRoutes,
  ...agentApprovalRoutes,
]
