import type { CliDiscovery } from '#proto/http/auth.ts'
import type { InstallationCapabilities } from '#proto/http/config.ts'

/** An optional capability of an installation. */
export interface OptionalCapability {
  title: string
  isOn: boolean
  /** Path of the page that provides the capability, if there is one. */
  path?: string
  /** The settings that enable the capability. */
  requires: string
}

/** Parts of API responses that state which capabilities are enabled. */
interface Capabilities {
  offers: InstallationCapabilities
  takesKeys: boolean
  deviceLogin: CliDiscovery['deviceLogin'] | undefined
}

/** Returns all optional capabilities, enabled or not. */
export const listOptionalCapabilities = ({ offers, takesKeys, deviceLogin }: Capabilities): OptionalCapability[] => [
  { title: 'API keys', isOn: takesKeys, path: '/api-keys', requires: 'SVC_API_KEY_SECRET' },
  {
    title: 'Device login',
    isOn: deviceLogin?.enabled === true,
    path: '/device',
    requires: deviceLogin?.reason === 'missing_api_key_secret' ? 'SVC_API_KEY_SECRET' : 'SVC_DEVICE_LOGIN',
  },
  {
    title: 'User connections stored on the server',
    isOn: offers.storedConnections,
    path: '/hosts',
    requires: 'SVC_FEATURE_USER_CONNECTIONS_DB, a state database, SVC_USER_CONNECTIONS_ENCRYPTION_KEY',
  },
  {
    title: 'Webhook subscriptions',
    isOn: offers.subscriptions,
    path: '/alerts/webhooks',
    requires: 'SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS, SVC_AUTH_PROVIDER=idp, IDP_SECRET_KEY, CONVERSATIONS_EDGESQL',
  },
  {
    title: 'User and grant management',
    isOn: offers.management,
    path: '/management',
    requires: 'COLUMNDB_MANAGEMENT_ENABLED=true and the feature SECURITY',
  },
  { title: 'Deployment markers on charts', isOn: offers.deployments, requires: 'REPO_HOST_WEBHOOK_SECRET' },
  {
    title: 'PostgreSQL monitoring',
    isOn: offers.postgresSource,
    path: '/postgres',
    requires: 'SVC_POSTGRES_SOURCE_URL and SVC_FEATURE_POSTGRES_SOURCE',
  },
  {
    title: 'Page view analytics',
    isOn: offers.pageViews,
    path: '/topics/page-views',
    requires: 'EVENTS_TABLE_NAME, a table that the database user can create and write to',
  },
  { title: 'Replication service', isOn: offers.replicationService, requires: 'REPLDB_API_URL' },
]
