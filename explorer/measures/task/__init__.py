"""What a representation makes easy: classes, linear readout, analogies, composition."""
