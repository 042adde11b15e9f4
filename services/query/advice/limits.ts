/** What advice may cost a host, a statement. */
export const limits = {
  max_memory_usage: 1_073_741_824,
  max_bytes_to_read: 17_179_869_184,
  max_rows_to_group_by: 1_000_000,
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
}
export const maxSeconds = 10
