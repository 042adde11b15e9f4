import { busSettings } from '../bus/config.ts'
import { storeSettings } from '../store/config.ts'
import { netSettings } from '../net/config.ts'
import { sealSettings } from '../seal/config.ts'
import { cloudSettings } from './shared-settings.ts'
import { maybeFlag, oneOf, optional, text, whole } from './setting.ts'

/** What every process obeys whatever services it runs; names the specification leaves open are declared here once. */
export const processSettings = {
  NODE_ENV: oneOf(
    ['development', 'production', 'test'],
    'development',
    'Kind of installation; production refuses to start without a host list and writes logs as JSON.',
  ),
  LOG_LEVEL: oneOf(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    'info',
    'Least severe log line that is written.',
  ),
  ...busSettings,
  ...storeSettings,
  ...cloudSettings,
  ...netSettings,
  ...sealSettings,
  OPERATIONS_PORT: whole(9464, 'Port of /livez, /readyz and /metrics of this process; 0 takes a free one.', {
    max: 65_535,
  }),
  OPERATIONS_HOST: text('0.0.0.0', 'Address the operations listener binds to.'),
  SVC_OTEL_EXPORTER_URL: optional(
    'OTLP/HTTP traces URL including the path; invalid or unset means no spans and no network call.',
  ),
  SVC_SANDBOX_DIRECTORY: text(
    '.watchhouse/sandbox',
    'Where the embedded hosts keep their data, which run when no host is named outside production.',
  ),
  SVC_INSTANCE: optional('Name of this process among its equals; a random one by default.'),
  SHUTDOWN_GRACE_MS: whole(20_000, 'How long calls in flight may take after a stop was asked for, in milliseconds.', {
    max: 600_000,
  }),
  LOG_PRETTY: maybeFlag('Write logs for people instead of JSON lines; unset does so on a terminal outside production.'),
} as const
