{{/* Bytes of a quantity of memory or disk: `512Mi`, `1.5Gi`, and `128mb`, as Valkey writes it. */}}
{{- define "rearview.bytes" -}}
{{- $units := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "mb" 1048576 "gb" 1073741824 -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get $units (regexFind "[A-Za-z]+$" .)) | printf "%.0f" -}}
{{- end -}}

{{/* Thousandths of processors: `250m`, `2`, `0.5`. */}}
{{- define "rearview.milliCpu" -}}
{{- $text := toString . -}}
{{- mulf (trimSuffix "m" $text | float64) (ternary 1 1000 (hasSuffix "m" $text)) | printf "%.0f" -}}
{{- end -}}
