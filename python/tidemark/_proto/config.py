"""What sessions are told and what they tell: ``ConfigProto``, ``RunOptions``, ``RunMetadata``."""

from __future__ import annotations

from tidemark._proto.fields import Enum, Field
from tidemark._proto.framework import DataType, GraphDef, TensorShapeProto
from tidemark._proto.message import Message


class GPUOptions(Message):
    """What a device's memory may be used for. Here the fraction is of the machine's memory."""

    FIELDS = (
        Field(1, "per_process_gpu_memory_fraction", "double"),
        Field(4, "allow_growth", "bool"),
        Field(2, "allocator_type", "string"),
        Field(3, "deferred_deletion_bytes", "int64"),
        Field(5, "visible_device_list", "string"),
        Field(6, "polling_active_delay_usecs", "int32"),
        Field(7, "polling_inactive_delay_msecs", "int32"),
        Field(8, "force_gpu_compatible", "bool"),
    )


class OptimizerOptions(Message):
    """Optimisations of graphs; accepted."""

    Level = Enum(L1=0, L0=-1)
    GlobalJitLevel = Enum(DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
    L1, L0, DEFAULT, OFF, ON_1, ON_2 = 0, -1, 0, -1, 1, 2
    FIELDS = (
        Field(1, "do_common_subexpression_elimination", "bool"),
        Field(2, "do_constant_folding", "bool"),
        Field(6, "max_folded_constant_in_bytes", "int64"),
        Field(4, "do_function_inlining", "bool"),
        Field(3, "opt_level", "enum", enum=Level),
        Field(5, "global_jit_level", "enum", enum=GlobalJitLevel),
    )


_Toggle = Enum(DEFAULT=0, ON=1, OFF=2, AGGRESSIVE=3)


class RewriterConfig(Message):
    """Optimisations of graphs; accepted."""

    Toggle = _Toggle
    DEFAULT, ON, OFF, AGGRESSIVE = range(4)
    FIELDS = tuple(
        Field(number, name, "enum", enum=_Toggle)
        for number, name in (
            (1, "layout_optimizer"), (3, "constant_folding"), (14, "shape_optimization"),
            (15, "remapping"), (7, "arithmetic_optimization"), (8, "dependency_optimization"),
            (9, "loop_optimization"), (10, "function_optimization"), (4, "memory_optimization"),
        )
    ) + (
        Field(2, "disable_model_pruning", "bool"),
        Field(19, "disable_meta_optimizer", "bool"),
    )  # fmt: skip


class GraphOptions(Message):
    FIELDS = (
        Field(2, "enable_recv_scheduling", "bool"),
        Field(3, "optimizer_options", "message", message=OptimizerOptions),
        Field(4, "build_cost_model", "int64"),
        Field(9, "build_cost_model_after", "int64"),
        Field(5, "infer_shapes", "bool"),
        Field(6, "place_pruned_graph", "bool"),
        Field(7, "enable_bfloat16_sendrecv", "bool"),
        Field(8, "timeline_step", "int32"),
        Field(10, "rewrite_options", "message", message=RewriterConfig),
    )


class ConfigProtoExperimental(Message):
    FIELDS = (
        Field(1, "collective_group_leader", "string"),
        Field(12, "optimize_for_static_graph", "bool"),
        Field(13, "enable_mlir_bridge", "bool"),
    )


class ConfigProto(Message):
    """Threads, memory and logging of a session."""

    FIELDS = (
        Field(1, "device_count", "map"),
        Field(2, "intra_op_parallelism_threads", "int32"),
        Field(5, "inter_op_parallelism_threads", "int32"),
        Field(9, "use_per_session_threads", "bool"),
        Field(3, "placement_period", "int32"),
        Field(4, "device_filters", "string", True),
        Field(6, "gpu_options", "message", message=GPUOptions),
        Field(7, "allow_soft_placement", "bool"),
        Field(8, "log_device_placement", "bool"),
        Field(10, "graph_options", "message", message=GraphOptions),
        Field(11, "operation_timeout_in_ms", "int64"),
        Field(15, "isolate_session_state", "bool"),
        Field(17, "share_cluster_devices_in_session", "bool"),
        Field(16, "experimental", "message", message=ConfigProtoExperimental),
    )
    Experimental = ConfigProtoExperimental


class RunOptions(Message):
    """How one run is done."""

    TraceLevel = Enum(NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)
    FIELDS = (
        Field(1, "trace_level", "enum", enum=TraceLevel),
        Field(2, "timeout_in_ms", "int64"),
        Field(3, "inter_op_thread_pool", "int32"),
        Field(5, "output_partition_graphs", "bool"),
        Field(7, "report_tensor_allocations_upon_oom", "bool"),
    )


class AllocationDescription(Message):
    FIELDS = (
        Field(1, "requested_bytes", "int64"),
        Field(2, "allocated_bytes", "int64"),
        Field(3, "allocator_name", "string"),
    )


class TensorDescription(Message):
    FIELDS = (
        Field(1, "dtype", "enum", enum=DataType),
        Field(2, "shape", "message", message=TensorShapeProto),
        Field(4, "allocation_description", "message", message=AllocationDescription),
    )


class NodeOutput(Message):
    FIELDS = (
        Field(1, "slot", "int32"),
        Field(3, "tensor_description", "message", message=TensorDescription),
    )


class AllocatorMemoryUsed(Message):
    FIELDS = (
        Field(1, "allocator_name", "string"),
        Field(2, "total_bytes", "int64"),
        Field(3, "peak_bytes", "int64"),
        Field(4, "live_bytes", "int64"),
        Field(5, "allocator_bytes_in_use", "int64"),
    )


class MemoryStats(Message):
    FIELDS = (
        Field(1, "temp_memory_size", "int64"),
        Field(3, "persistent_memory_size", "int64"),
    )


class NodeExecStats(Message):
    FIELDS = (
        Field(1, "node_name", "string"),
        Field(2, "all_start_micros", "int64"),
        Field(3, "op_start_rel_micros", "int64"),
        Field(4, "op_end_rel_micros", "int64"),
        Field(5, "all_end_rel_micros", "int64"),
        Field(6, "memory", "message", True, AllocatorMemoryUsed),
        Field(7, "output", "message", True, NodeOutput),
        Field(8, "timeline_label", "string"),
        Field(9, "scheduled_micros", "int64"),
        Field(10, "thread_id", "uint32"),
        Field(12, "memory_stats", "message", message=MemoryStats),
    )


class DeviceStepStats(Message):
    FIELDS = (
        Field(1, "device", "string"),
        Field(2, "node_stats", "message", True, NodeExecStats),
    )


class StepStats(Message):
    FIELDS = (Field(1, "dev_stats", "message", True, DeviceStepStats),)


class CostGraphDefOutput(Message):
    FIELDS = (
        Field(1, "size", "int64"),
        Field(2, "alias_input_port", "int64"),
        Field(3, "shape", "message", message=TensorShapeProto),
        Field(4, "dtype", "enum", enum=DataType),
    )


class CostGraphDefNode(Message):
    FIELDS = (
        Field(1, "name", "string"),
        Field(2, "device", "string"),
        Field(3, "id", "int32"),
        Field(5, "output_info", "message", True, CostGraphDefOutput),
        Field(6, "temporary_memory_size", "int64"),
        Field(12, "persistent_memory_size", "int64"),
        Field(9, "compute_cost", "int64"),
    )


class CostGraphDef(Message):
    FIELDS = (Field(1, "node", "message", True, CostGraphDefNode),)
    Node = CostGraphDefNode


class RunMetadata(Message):
    """What one run tells about itself."""

    FIELDS = (
        Field(1, "step_stats", "message", message=StepStats),
        Field(2, "cost_graph", "message", message=CostGraphDef),
        Field(3, "partition_graphs", "message", True, GraphDef),
    )
