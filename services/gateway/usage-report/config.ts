import { url } from '#shared/config/setting.ts'

/** Who hears that this installation is in use; nobody unless the operator says so. */
export const usageReportSettings = {
  SVC_TELEMETRY_ENDPOINT: url(
    'Where once a day a report on the installation is posted: the version, the major version of Node, how many hosts there are to the next power of ten, and whether several processes share a bus. Nothing that names anybody or anything; nothing at all while unset.',
    { protocols: ['https', 'http'] },
  ),
} as const
