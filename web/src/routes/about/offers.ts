import type { CliDiscovery } from '#proto/http/auth.ts'
import type { Offers } from '#proto/http/config.ts'

/** Something that an installation may be set up for. */
export interface Offer {
  title: string
  isOn: boolean
  /** The page for it, where there is one and it is on. */
  path?: string
  /** What the operator would set, while it is off. */
  wanted: string
}

/** What is known of an installation. */
interface Standing {
  offers: Offers
  takesKeys: boolean
  deviceLogin: CliDiscovery['deviceLogin'] | undefined
}

/** What an installation is set up for, and what it would take. */
export const offersOf = ({ offers, takesKeys, deviceLogin }: Standing): Offer[] => [
  { title: 'API keys', isOn: takesKeys, path: '/api-keys', wanted: 'SVC_API_KEY_SECRET' },
  {
    title: 'Device login of programs',
    isOn: deviceLogin?.enabled === true,
    path: '/device',
    wanted: deviceLogin?.reason === 'missing_api_key_secret' ? 'SVC_API_KEY_SECRET' : 'SVC_DEVICE_LOGIN',
  },
  {
    title: 'Connections that people keep',
    isOn: offers.keptConnections,
    path: '/hosts',
    wanted: 'SVC_FEATURE_USER_CONNECTIONS_DB, a state database, SVC_USER_CONNECTIONS_ENCRYPTION_KEY',
  },
  {
    title: 'Webhooks that people subscribe',
    isOn: offers.subscriptions,
    path: '/alerts/webhooks',
    wanted: 'SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS, SVC_AUTH_PROVIDER=idp, IDP_SECRET_KEY, CONVERSATIONS_EDGESQL',
  },
  {
    title: 'Management of users and grants',
    isOn: offers.management,
    path: '/management',
    wanted: 'COLUMNDB_MANAGEMENT_ENABLED=true, and the feature SECURITY',
  },
  { title: 'Deployments as marks on charts', isOn: offers.deployments, wanted: 'REPO_HOST_WEBHOOK_SECRET' },
  {
    title: 'A PostgreSQL server beside the hosts',
    isOn: offers.postgresSource,
    path: '/postgres',
    wanted: 'SVC_POSTGRES_SOURCE_URL, and SVC_FEATURE_POSTGRES_SOURCE',
  },
  {
    title: 'Views of pages, counted',
    isOn: offers.pageViews,
    path: '/topics/page-views',
    wanted: 'EVENTS_TABLE_NAME, a table that the database user may create and write',
  },
  { title: 'A replication service', isOn: offers.replicationService, wanted: 'REPLDB_API_URL' },
]
