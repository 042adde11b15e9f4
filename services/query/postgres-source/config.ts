import { inCloudMode } from '#shared/config/cloud-mode.ts'
import type { Environment } from '#shared/config/environment.ts'
import { maybeFlag, read, url } from '#shared/config/setting.ts'

/** The second kind of monitored system. */
export const postgresSourceSettings = {
  SVC_POSTGRES_SOURCE_URL: url(
    'PostgreSQL server that is watched beside the hosts, with a user that may read its statistics (GRANT pg_monitor); never the state database of the product.',
    { protocols: ['postgres', 'postgresql'], audience: 'secret' },
  ),
  SVC_FEATURE_POSTGRES_SOURCE: {
    ...maybeFlag('Shows the PostgreSQL source of SVC_POSTGRES_SOURCE_URL, as pages and to the agent.'),
    fallback: 'true, in cloud mode false',
  },
} as const

/** The address of the source; undefined where there is none, or it is not to be shown. */
export const sourceUrl = (env: Environment): string | undefined => {
  const { SVC_POSTGRES_SOURCE_URL, SVC_FEATURE_POSTGRES_SOURCE } = read(postgresSourceSettings, env)
  return (SVC_FEATURE_POSTGRES_SOURCE ?? !inCloudMode(env)) ? SVC_POSTGRES_SOURCE_URL?.href : undefined
}
