import { busSettings } from '../bus/config.ts'
import { storeSettings } from '../store/config.ts'
import { netSettings } from '../net/guard.ts'
import { sealSettings } from '../seal/config.ts'
import { cloudSettings } from './shared-settings.ts'
import { optionalFlagSetting, choiceSetting, optionalTextSetting, textSetting, wholeNumberSetting } from './setting.ts'

/** Settings of every process, independent of its services. */
export const processSettings = {
  NODE_ENV: choiceSetting(
    ['development', 'production', 'test'],
    'development',
    'Runtime environment. In production the service requires a host list and writes logs as JSON.',
  ),
  LOG_LEVEL: choiceSetting(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info', 'Minimum log level.'),
  ...busSettings,
  ...storeSettings,
  ...cloudSettings,
  ...netSettings,
  ...sealSettings,
  OPERATIONS_PORT: wholeNumberSetting(
    9464,
    'Port of /livez, /readyz and /metrics of this process; 0 selects a free port.',
    {
      max: 65_535,
    },
  ),
  OPERATIONS_HOST: textSetting('0.0.0.0', 'Address the operations listener binds to.'),
  SVC_OTEL_EXPORTER_URL: optionalTextSetting(
    'OTLP/HTTP traces URL including the path. Unset or invalid: tracing is disabled.',
  ),
  SVC_SANDBOX_DIRECTORY: textSetting(
    '.watchhouse/sandbox',
    'Data directory of the embedded ClickHouse hosts, which start outside production when no host is configured.',
  ),
  SVC_INSTANCE: optionalTextSetting('Instance name of this process; random by default.'),
  SHUTDOWN_GRACE_MS: wholeNumberSetting(20_000, 'Grace period for calls in flight on shutdown, in milliseconds.', {
    max: 600_000,
  }),
  STARTUP_WAIT_MS: wholeNumberSetting(
    0,
    'How long the start waits for the state database, Redis and NATS, in milliseconds. With 0 it fails if one of them does not respond.',
    { max: 3_600_000 },
  ),
  LOG_PRETTY: optionalFlagSetting(
    'Write human-readable logs instead of JSON lines. Unset: on for terminals outside production.',
  ),
} as const
