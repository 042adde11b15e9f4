import { flag } from '#shared/config/setting.ts'

/** What reports and advice obey. */
export const settings = {
  SVC_ADVICE_READS_DATA: flag(
    true,
    'Advice on a statement is tried out on the host, for which the columns of its conditions are read, 10 seconds at a time; otherwise nothing is, and all advice is unverified.',
  ),
} as const
